import type { MetadataCache } from '@chain-data/index'
import type { SolanaCallOptions } from '../../../nodes/solana/nodes.ts'
import type { SolanaRpc } from '../../../nodes/solana/rpc.ts'
import { openAbortScope } from '../../../platform/concurrency/deadline.ts'
import { NodeRpcError } from '../../../platform/errors.ts'
import { present } from '../../../platform/present.ts'
import { Refusal } from '../../../platform/refusal.ts'
import { createHistoryCache, type HistoryCache } from './HistoryCache.ts'
import type { SolanaHistoryFigures } from './historyFigures.ts'
import type { SolanaHistoryRpc } from './historyRpc.ts'
import { readWallet } from './readWallet.ts'
import type { SolanaHistory, SolanaHistoryQuery } from './SolanaHistory.ts'
import { TransactionReader } from './TransactionReader.ts'

export interface SolanaHistoryReader {
  /**
   * Reads the history of a wallet and of its token accounts; nothing for an address never seen.
   *
   * @throws {Refusal} STILL_READING when the time did not suffice: what was read is kept. TOO_MANY_RESULTS, and INVALID_PARAMS for
   *   a cursor that no node knows.
   * @throws whatever {@link SolanaRpc} throws.
   * @remarks The newest page: 3 calls for the balances, one for each list (of the wallet and each token account), one for each
   *   transaction that is not kept, one for each slot with two of them. A page with `before`: none of these where it was read before.
   */
  readHistory(query: SolanaHistoryQuery): Promise<SolanaHistory>
}

/** A reader that counts what it reads. */
interface CountedReader extends SolanaHistoryReader {
  figures(): Pick<SolanaHistoryFigures, 'transactions'>
}

export interface SolanaHistoryOptions {
  readonly chainId: number
  readonly rpc: SolanaRpc
  readonly historyRpc: SolanaHistoryRpc
  readonly documents: MetadataCache
}

/** The part of a call's time after which nothing further is asked: the rest is for answering. */
const workingShare = 0.85
const retryAfterMs = 1_000

/** Reads histories from plain nodes; keeps finalised transactions and lists in a cache of documents. */
export function createSolanaHistory(options: SolanaHistoryOptions): CountedReader {
  const { chainId, rpc, historyRpc, documents } = options
  let opened: HistoryCache | undefined
  const transactions = { kept: 0, read: 0 }

  /** The chain id does not tell a development cluster from the one that it was before. */
  async function openCache(callOptions: SolanaCallOptions): Promise<HistoryCache> {
    if (opened !== undefined) return opened
    const genesis = await historyRpc.call('getGenesisHash', [], callOptions).catch(error => {
      if (error instanceof NodeRpcError) return ''
      throw error
    })
    opened = createHistoryCache(documents, `${chainId}:${String(genesis)}`)
    return opened
  }

  return {
    figures: () => ({ transactions: { ...transactions } }),

    async readHistory(query) {
      const scope = openAbortScope([query.signal])
      const progress = { slot: undefined as number | undefined, share: 0 }
      const outOfTime = new Error('the time of this call is over')
      const startMs = Date.now()
      scope.setDeadline((query.deadlineMs - startMs) * workingShare, () => outOfTime)
      try {
        const callOptions = { signal: scope.signal, deadlineMs: query.deadlineMs }
        const cache = await openCache(callOptions)
        const reader = new TransactionReader(historyRpc, cache, transactions)
        const deps = { rpc, historyRpc, cache, reader, callOptions }
        return await readWallet(query, deps, (slot, share) => Object.assign(progress, { slot, share }))
      } catch (error) {
        if (scope.signal.reason !== outOfTime || query.signal.aborted) throw error
        const { slot, share } = progress
        if (slot !== undefined) throw stillReading(chainId, slot, share, Date.now() - startMs)
        const message = `The nodes of chain ${chainId} did not answer in time.`
        throw new Refusal('UPSTREAM_UNAVAILABLE', message, { retryAfterMs })
      } finally {
        scope.end()
      }
    }
  }
}

function stillReading(chainId: number, slot: number, share: number, tookMs: number): Refusal {
  const percent = Math.min(99, Math.floor(share * 100))
  const expectedMs = share > 0.01 ? Math.round((tookMs / share) * (1 - share)) : undefined
  const left = expectedMs === undefined ? '' : `, about ${Math.ceil(expectedMs / 1000)} s left`
  return new Refusal(
    'STILL_READING',
    `The history on chain ${chainId} is still being read, down to slot ${slot} so far (${percent} %${left}).`,
    { retryAfterMs, progress: { reachedBlock: slot, percent, ...present({ expectedMs }) } }
  )
}
