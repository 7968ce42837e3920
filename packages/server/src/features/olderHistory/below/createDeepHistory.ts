import type { Address, BlockRef, DeepHistoryCache, Hash } from '@chain-data/index'
import { hashesIn } from '../../../evm/blocks/blockRows.ts'
import type { EvmSource } from '../../../evm/blocks/evmSource.ts'
import type { DeepCoverage, DeepProgress, DeepSource } from '../../../model/deepHistory.ts'
import type { TraceMode } from '../../../model/traceMode.ts'
import { isAbsent, readCount, readObject } from '../../../nodes/evm/rawFields.ts'
import type { EvmUpstreams } from '../../../nodes/evm/rpc.ts'
import { NodeContradictionError } from '../../../platform/errors.ts'
import { cacheOfMode } from './createAccountReader.ts'
import { createSourceChoice } from './createSourceChoice.ts'
import { DeepReader, type DeepRequest, requireBranch } from './DeepReader.ts'
import { createSearches } from './searches.ts'

/**
 * History older than the index of one chain, read from its nodes on demand, and kept. Blocks are verified and
 * normalised as those of the index are, so that records are the same.
 */
export interface DeepHistory {
  /** Returns what answers for histories; `undefined`: no node has been asked yet. Never waits. */
  answeredBy(): DeepSource | undefined
  /**
   * Makes sure that it is known.
   * @throws {NodeUnavailableError} no node answers.
   */
  findOut(signal: AbortSignal): Promise<DeepSource>
  /**
   * Reads transactions of the account until `isEnough`, newest first, or down to where its history can be proven.
   * @param wanted - how many there have to be more; absent: all.
   * @throws {NodeUnavailableError} and {NodeContradictionError}: what was read before stays known.
   */
  readRecords(request: DeepRequest, isEnough: () => Promise<boolean>, wanted?: number): Promise<DeepProgress>
  /** Returns how much of the account's history is answered, as far as the last reads have shown it. */
  coverage(address: Address, anchor: BlockRef): Promise<DeepCoverage>
  /** Reads on until it is known of all blocks what the account may hold. Needs no index of addresses. */
  readCandidates(request: DeepRequest): Promise<DeepProgress>
  /** The history that was read so far. */
  readonly cache: Pick<DeepHistoryCache, 'known' | 'records' | 'candidates'>
  /** Id of a transaction older than the index; absent where there is none of this hash. */
  lookUpHash(address: Address, hash: Hash, anchor: BlockRef, signal: AbortSignal): Promise<number | undefined>
}

export interface DeepHistoryOptions {
  readonly rpc: EvmUpstreams
  /** Opens a source that reads blocks as the indexer does. */
  openSource(rpc: EvmUpstreams): Pick<EvmSource, 'block' | 'blockRef'>
  readonly cache: DeepHistoryCache
  readonly traces: TraceMode
  /** Maximum of calls to nodes for one request, repeated ones not counted; default: no bound. */
  readonly maxCalls?: number
  /** `Date.now`, replaced in tests. */
  readonly now?: () => number
}

export function createDeepHistory(options: DeepHistoryOptions): DeepHistory {
  const { rpc, traces, maxCalls = Number.POSITIVE_INFINITY, now = Date.now } = options
  const cache = cacheOfMode(options.cache, traces)
  const source = options.openSource(rpc)
  const { begin, spans } = createSearches(options)
  const choice = createSourceChoice({ rpc, spans, cache, now, payments: traces !== 'off' })
  const reader = new DeepReader({ cache, choice, begin, maxCalls })

  return {
    ...{ answeredBy: choice.answeredBy, findOut: choice.findOut, coverage: choice.coverage },
    cache: { ...cache, known: choice.knownOf },
    readRecords: (request, isEnough, wanted = Number.POSITIVE_INFINITY) =>
      reader.read(request, 'records', isEnough, wanted),
    readCandidates: request =>
      reader.read(request, 'candidates', async () => false, Number.POSITIVE_INFINITY),
    async lookUpHash(address, hash, anchor, signal) {
      const kept = await cache.lookUpHash(address, hash, anchor)
      if (kept !== undefined) return kept
      const raw = await rpc.request({ method: 'eth_getTransactionByHash', params: [hash] }, { signal })
      if (raw === null) return undefined
      const { blockNumber } = readObject(raw, `transaction ${hash}`)
      if (isAbsent(blockNumber)) return undefined
      const number = readCount(blockNumber, `transaction ${hash}: blockNumber`)
      if (number >= anchor.number) return undefined
      await requireBranch(source, anchor, signal)
      const rows = await source.block(number, signal)
      const place = hashesIn(rows).indexOf(hash)
      if (place < 0) {
        const problem = `transaction ${hash}: it is not in block ${number}, which the node names`
        throw new NodeContradictionError(problem, { number })
      }
      return rows.ids[place]
    }
  }
}
