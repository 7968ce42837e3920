import type { BlockRows } from '@chain-data/index/record'
import type { EvmSource } from '../../evm/blocks/evmSource.ts'
import { type AbortScope, openAbortScope } from '../../platform/concurrency/deadline.ts'
import { backOffMs, jittered } from '../../platform/concurrency/pause.ts'
import { NodeContradictionError, NodeRpcError } from '../../platform/errors.ts'

/** Waits, or until `signal` aborts; the caller checks the signal next. */
export type Wait = (ms: number, signal: AbortSignal) => Promise<void>

/** Between two tries at one block. */
const backOff = { firstMs: 16, maxMs: 1_000 }
/** Bound on the blocks ahead of the one that is taken. */
export const defaultMaxBytes = 32 * 1024 * 1024
/** Blocks fetched at once at first, while their size is not known, and one more after each block: 16 of 2 MB are the bound. */
const firstBlocks = 16

export interface FetchAheadOptions {
  readonly source: Pick<EvmSource, 'block' | 'room'>
  /** Blocks fetched or waiting at the same time, at most; fewer where they are large or the nodes take fewer. */
  readonly window: number
  /** Bytes of all these blocks: the rows of those that have come, and the answers, as large as those before, of the others. */
  readonly maxBytes: number
  readonly signal: AbortSignal
  readonly wait: Wait
  /** From each block to the next one; 1. */
  readonly step?: 1 | -1
}

/** Blocks fetched before they are taken, in the order of their numbers, or downwards. */
export interface FetchAhead {
  /**
   * Waits for the block `number`, and has those after it fetched meanwhile, also after it was returned. A call for another
   * block than the next one forgets what was fetched.
   *
   * A block that contradicts itself is asked for again a few times: nodes behind a balancer lag, and a reorg may pass
   * between two calls.
   *
   * @param to - the last block that may be fetched.
   * @param tries - most tries at one block that contradicts itself or that the node refuses.
   * @throws {BlockFailure} the block cannot be had, or `signal` is aborted.
   */
  take(number: number, to: number, tries: number): Promise<BlockRows>
  /** Aborts what is under way and forgets what was fetched. */
  drop(): Promise<void>
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

interface BlockAhead {
  readonly number: number
  readonly rows: Promise<BlockRows>
  /** Absent while it is being fetched. */
  rowBytes?: number
}

export function createFetchAhead(options: FetchAheadOptions): FetchAhead {
  const { source, window, maxBytes, signal, step = 1 } = options
  let scope: AbortScope = openAbortScope([signal])
  let ahead: BlockAhead[] = []
  let last = 0
  let tries = 1
  let underWay = 0
  let heldBytes = 0
  let answered = 0
  let hasFailed = false
  /** Of the answers for one block; rises with every larger block at once, and falls slowly. */
  let expectedBytes = 0

  const hasRoom = () =>
    ahead.length === 0 ||
    (!hasFailed &&
      ahead.length < window &&
      underWay < Math.min(firstBlocks + answered, source.room?.() ?? window) &&
      heldBytes + (underWay + 1) * expectedBytes <= maxBytes)

  function begin(number: number): void {
    const { signal: within } = scope
    let bytes = 0
    const onSize = (size: number) => {
      bytes += size
    }
    const rows = fetchPatiently(options, number, tries, within, onSize)
    const block: BlockAhead = { number, rows }
    ahead.push(block)
    underWay++
    const fetched = (rowBytes: number) => {
      // What was dropped is counted no more.
      if (within !== scope.signal) return
      underWay--
      answered++
      block.rowBytes = rowBytes
      heldBytes += rowBytes
      expectedBytes = Math.max(bytes, rowBytes, expectedBytes * 0.95)
      fill()
    }
    rows
      .then(one => fetched(weighRows(one)))
      // It is thrown where the block is taken. Those after it are not asked for any more.
      .catch(() => {
        if (within === scope.signal) hasFailed = true
      })
  }

  function fill(): void {
    for (
      let next = (ahead.at(-1)?.number ?? last) + step;
      step * (last - next) >= 0 && hasRoom();
      next += step
    )
      begin(next)
  }

  async function drop(): Promise<void> {
    const dropped = ahead
    ahead = []
    underWay = 0
    heldBytes = 0
    hasFailed = false
    scope.end()
    scope = openAbortScope([signal])
    await Promise.allSettled(dropped.map(({ rows }) => rows))
  }

  return {
    async take(number, to, maxTries) {
      if (signal.aborted) throw new BlockFailure(number, 0, signal.reason)
      last = to
      tries = maxTries
      if (ahead.length > 0 && ahead[0]?.number !== number) await drop()
      if (ahead.length === 0) begin(number)
      fill()
      const block = ahead[0] as BlockAhead
      const rows = await block.rows
      if (ahead[0] === block) {
        ahead.shift()
        heldBytes -= block.rowBytes ?? 0
        fill()
      }
      return rows
    },
    drop
  }
}

async function fetchPatiently(
  { source, wait }: FetchAheadOptions,
  number: number,
  tries: number,
  signal: AbortSignal,
  onSize: (bytes: number) => void
): Promise<BlockRows> {
  for (let tried = 1; ; tried++) {
    try {
      return await source.block(number, signal, onSize)
    } catch (error) {
      const mayPass = error instanceof NodeContradictionError || error instanceof NodeRpcError
      if (!mayPass || tried >= tries || signal.aborted) throw new BlockFailure(number, tried, error)
      await wait(jittered(backOffMs(backOff, tried)), signal)
      if (signal.aborted) throw new BlockFailure(number, tried, error)
    }
  }
}

/** Bytes that a block's records and its other lists take. */
export function weighRows({ records, extras }: BlockRows): number {
  return records.length + extras.length
}
