import { setTimeout as sleep } from 'node:timers/promises'
import type { IndexedBlock } from '../model/evm.ts'
import { NodeContradictionError, NodeRpcError } from '../platform/errors.ts'
import type { ChainSource } from './chainSource.ts'

/** Attempts at one block that contradicts itself before it is reported. */
const attemptsPerBlock = 5
const firstPauseMs = 25

/**
 * Blocks `from` to `to` in order, up to `window` of them fetched or waiting at the same time.
 *
 * A block that contradicts itself is asked for again a few times: nodes behind a balancer lag, and a reorg may pass
 * between two calls.
 *
 * @throws the failure of the first block that cannot be had, after all blocks before it have been yielded.
 */
export async function* fetchInOrder(
  source: ChainSource,
  range: { readonly from: number; readonly to: number },
  window: number,
  signal: AbortSignal
): AsyncGenerator<IndexedBlock, void, undefined> {
  const leaving = new AbortController()
  const leave = () => leaving.abort(signal.reason)
  signal.addEventListener('abort', leave, { once: true })
  if (signal.aborted) leave()
  const underWay: Promise<IndexedBlock>[] = []
  let next = range.from
  try {
    for (let number = range.from; number <= range.to; number++) {
      while (underWay.length < window && next <= range.to) {
        const block = fetchPatiently(source, next++, leaving.signal)
        // Its turn comes later; until then a failure is nobody's.
        block.catch(() => undefined)
        underWay.push(block)
      }
      const first = underWay.shift()
      if (first !== undefined) yield await first
    }
  } finally {
    signal.removeEventListener('abort', leave)
    leaving.abort(new Error('no longer wanted'))
    await Promise.allSettled(underWay)
  }
}

async function fetchPatiently(
  source: ChainSource,
  number: number,
  signal: AbortSignal
): Promise<IndexedBlock> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await source.block(number, signal)
    } catch (error) {
      const mayPass = error instanceof NodeContradictionError || error instanceof NodeRpcError
      if (!mayPass || attempt >= attemptsPerBlock) throw error
      await sleep(firstPauseMs * 2 ** attempt * (0.5 + Math.random() / 2), undefined, { signal })
    }
  }
}
