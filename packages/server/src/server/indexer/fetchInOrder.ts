import type { EvmSource } from '../../evm/blocks/evmSource.ts'
import type { BlockRows } from '../../index/record/encodeBlock.ts'
import { openAbortScope } from '../../platform/concurrency/deadline.ts'
import { backOffMs, jittered } from '../../platform/concurrency/pause.ts'
import { NodeContradictionError, NodeRpcError } from '../../platform/errors.ts'

/** Waits, or until `signal` aborts; the caller checks the signal next. */
export type Wait = (ms: number, signal: AbortSignal) => Promise<void>

/** Between two tries at one block. */
const backOff = { firstMs: 16, maxMs: 1_000 }
/** Bound on the rows of all blocks under way, estimated by those before; a block under way takes several times its rows. */
const windowBytes = 8 * 1024 * 1024
/** Blocks fetched at once at first, and one more after each block: their size is not known before. */
const firstBlocks = 4

export interface FetchOptions {
  readonly source: Pick<EvmSource, 'block'>
  readonly from: number
  readonly to: number
  /** Blocks fetched or waiting at the same time; fewer where they are large. */
  readonly window: number
  /** Most tries at one block that contradicts itself or that the node refuses. */
  readonly tries: number
  readonly signal: AbortSignal
  readonly wait: Wait
}

/** A block could not be fetched; `cause` is the last error of the source. */
export class BlockFailure extends Error {
  readonly blockNumber: number
  /** Calls to the source for this block. */
  readonly tries: number

  constructor(blockNumber: number, tries: number, cause: unknown) {
    super(`block ${blockNumber} could not be fetched`, { cause })
    this.name = 'BlockFailure'
    this.blockNumber = blockNumber
    this.tries = tries
  }
}

/**
 * Blocks `from` to `to` in order, several fetched at a time.
 *
 * A block that contradicts itself is asked for again a few times: nodes behind a balancer lag, and a reorg may pass
 * between two calls.
 *
 * @throws {BlockFailure} for the first block that cannot be had, after all blocks before it have been yielded; and for the
 *   next one once `signal` is aborted.
 */
export async function* fetchInOrder(options: FetchOptions): AsyncGenerator<BlockRows, void, undefined> {
  const { from, to, window, signal } = options
  const scope = openAbortScope([signal])
  const underWay: Promise<BlockRows>[] = []
  let next = from
  /** Rises with every larger block at once, and falls slowly. */
  let expectedBytes = 0
  const hasRoom = (seen: number) =>
    underWay.length === 0 ||
    (underWay.length < Math.min(window, firstBlocks + seen) &&
      (underWay.length + 1) * expectedBytes <= windowBytes)
  try {
    for (let number = from; number <= to; number++) {
      if (signal.aborted) throw new BlockFailure(number, 0, signal.reason)
      while (next <= to && hasRoom(number - from)) {
        const block = fetchPatiently({ ...options, signal: scope.signal }, next++)
        // It is awaited later; the empty catch prevents an unhandled rejection until then.
        block.catch(() => undefined)
        underWay.push(block)
      }
      const first = underWay.shift()
      if (first === undefined) return
      const block = await first
      expectedBytes = Math.max(weighRows(block), expectedBytes * 0.95)
      yield block
    }
  } finally {
    scope.end()
    await Promise.allSettled(underWay)
  }
}

async function fetchPatiently(options: FetchOptions, number: number): Promise<BlockRows> {
  const { source, tries, signal, wait } = options
  for (let tried = 1; ; tried++) {
    try {
      return await source.block(number, signal)
    } catch (error) {
      const mayPass = error instanceof NodeContradictionError || error instanceof NodeRpcError
      if (!mayPass || tried >= tries || signal.aborted) throw new BlockFailure(number, tried, error)
      await wait(jittered(backOffMs(backOff, tried)), signal)
      if (signal.aborted) throw new BlockFailure(number, tried, error)
    }
  }
}

/** Bytes that a block's rows take. */
export function weighRows({ records, hashes, parties, candidates }: BlockRows): number {
  return records.length + hashes.length + parties.length + candidates.length
}
