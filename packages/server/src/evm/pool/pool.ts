import type { Address, BlockRef } from '@chain-data/index'
import type { EvmNode } from '../../nodes/evm/nodeCall.ts'
import type { EvmUpstreams } from '../../nodes/evm/rpc.ts'
import { UpstreamError } from '../../nodes/upstreams/upstreamError.ts'
import { type Clock, systemClock } from '../../platform/clock.ts'
import { NodeContradictionError } from '../../platform/errors.ts'
import type { Logger } from '../../platform/logger.ts'
import { readBlockRef } from '../blocks/blocks.ts'
import { movingUp, readPendingBlock, readPendingList, readTxpool } from './poolSources.ts'
import type { FoundPool, PoolTransaction } from './readPoolEntries.ts'

/** One read of the node's pool; the store takes it as its `PoolUpdate`. */
export interface PoolView {
  /** Each transaction once. */
  readonly present: readonly PoolTransaction[]
  readonly seenAtSeconds: number
  /** The node's newest block, asked after the pool was read. */
  readonly headAfter: BlockRef
  /** The source of this read shows the node's whole pool, not only a part of it. */
  readonly complete: boolean
  /** Entries of the source beyond the bound, which `present` does not have. */
  readonly leftOut: number
}

export interface PoolReaderOptions {
  readonly rpc: Pick<EvmUpstreams, 'onOneNode'>
  readonly logger?: Logger
  /**
   * Maximum of entries of a read; 50,000: ten times what a node keeps by default, and a size whose comparison with the store
   * does not hold up the blocks.
   */
  readonly maxEntries?: number
  readonly clock?: Clock
}

/** Best first. */
const sources: readonly {
  readonly name: string
  readonly read: (node: EvmNode, logger: Logger | undefined) => Promise<FoundPool | undefined>
}[] = [
  { name: 'txpool_content', read: readTxpool },
  { name: 'eth_pendingTransactions', read: readPendingList },
  { name: 'the pending block', read: readPendingBlock }
]

/** A pool whose answer was too large is not small again at the next read, and every try costs as much as may be read. */
const skipMs = 10 * 60_000

/**
 * Reads the pool from the best source that the node offers: `txpool_content`, else `eth_pendingTransactions`, else the pending
 * block. All of one read comes from one node and one source. A source whose answer is larger than may be read is skipped for
 * ten minutes, and the next one is used.
 *
 * @returns a function that reads the pool once; `undefined` when the node does not show any.
 * @throws {NodeUnavailableError}
 * @throws {NodeRpcError} the node refuses a method that it has.
 * @throws {NodeContradictionError} when the answer is not a pool. Single malformed entries are left out.
 */
export function createPoolReader({
  rpc,
  logger,
  maxEntries = 50_000,
  clock = systemClock
}: PoolReaderOptions): (signal?: AbortSignal) => Promise<PoolView | undefined> {
  const skippedUntilMs = new Map<string, number>()
  let queuedBefore: readonly PoolTransaction[] = []
  let wasCut = false

  /** Two nodes may be asked at the same time: what is remembered is remembered of the answer that counts. */
  async function readSources(node: EvmNode) {
    for (const { name, read } of sources) {
      if ((skippedUntilMs.get(name) ?? 0) > clock.now()) continue
      const found = await read(node, logger).catch(error => {
        if (!(error instanceof UpstreamError) || error.fault !== 'tooLarge') throw error
        skippedUntilMs.set(name, clock.now() + skipMs)
        logger?.warn('the pool is larger than an answer may be', { method: name, waitMs: skipMs })
        return undefined
      })
      if (found === undefined) continue
      const seenAtSeconds = Math.floor(clock.now() / 1000)
      // After the pool: what has left it by now is in a block up to this height.
      const latest = await node.request({ method: 'eth_getBlockByNumber', params: ['latest', false] })
      const headAfter = readBlockRef(latest, 'latest block')
      if (headAfter === undefined) throw new NodeContradictionError('the node has no latest block')
      return { ...found, name, seenAtSeconds, headAfter }
    }
    return undefined
  }

  return async signal => {
    const read = await rpc.onOneNode('pool', readSources, signal ? { signal } : {})
    const comesInLists = read?.name === 'txpool_content'
    const before = comesInLists ? queuedBefore : []
    queuedBefore = comesInLists ? read.entries.filter(({ status }) => status === 0) : []
    if (read === undefined) return undefined
    const all = [...read.entries, ...movingUp(before, read.entries)]
    const present = limitPool(all, maxEntries)
    const leftOut = all.length - present.length
    if (leftOut > 0 && !wasCut)
      logger?.warn('entries of a pool beyond the bound are left out', { count: leftOut })
    wasCut = leftOut > 0
    return {
      present,
      seenAtSeconds: read.seenAtSeconds,
      headAfter: read.headAfter,
      complete: read.complete,
      leftOut
    }
  }
}

/**
 * The entries that are kept of a pool that is too large: pending ones before queued ones, then the first of every sender
 * before the second of any, then by hash. So one sender's flood leaves the others' entries where they are, and two
 * reads of the same pool keep the same.
 */
function limitPool(entries: readonly PoolTransaction[], max: number): readonly PoolTransaction[] {
  if (entries.length <= max) return entries
  const bySender = new Map<Address, PoolTransaction[]>()
  for (const entry of entries) {
    const queue = bySender.get(entry.from)
    if (queue === undefined) bySender.set(entry.from, [entry])
    else queue.push(entry)
  }
  const ranked: { readonly entry: PoolTransaction; readonly index: number }[] = []
  for (const queue of bySender.values()) {
    queue.sort((a, b) => (a.nonce < b.nonce ? -1 : a.nonce > b.nonce ? 1 : a.hash < b.hash ? -1 : 1))
    for (const [index, entry] of queue.entries()) ranked.push({ entry, index })
  }
  ranked.sort(
    (a, b) => b.entry.status - a.entry.status || a.index - b.index || (a.entry.hash < b.entry.hash ? -1 : 1)
  )
  return ranked.slice(0, max).map(({ entry }) => entry)
}
