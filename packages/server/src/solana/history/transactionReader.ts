import type { SolanaHistoryRpc } from '../../nodes/solana/historyRpc.ts'
import type { SolanaCallOptions } from '../../nodes/solana/nodes.ts'
import { mapConcurrently } from '../../platform/concurrency/permits.ts'
import { NodeContradictionError, NodeUnavailableError } from '../../platform/errors.ts'
import type { HistoryCache } from './HistoryCache.ts'
import type { KeptTransaction } from './KeptTransaction.ts'
import { readTransaction } from './readTransaction.ts'

/** A transaction that is asked for. */
interface WantedTransaction {
  readonly signature: string
  /** Where a list has it. */
  readonly slot: number
  readonly isFinalized: boolean
}

/** The transactions of one answer: each is read once. */
export type TransactionReader = ReturnType<typeof createTransactionReader>

/** Calls of one answer in flight; the upstreams have their own, lower bounds. */
export const callsAtOnce = 64

/** @param counts - Raised by the transactions that the cache had, and by those that nodes were asked for. */
export function createTransactionReader(
  rpc: SolanaHistoryRpc,
  cache: HistoryCache,
  counts: { kept: number; read: number }
) {
  const known = new Map<string, KeptTransaction>()
  const final = new Set<string>()

  async function readOne(
    { signature, slot, isFinalized }: WantedTransaction,
    options: SolanaCallOptions
  ): Promise<void> {
    const transaction = await rpc.getTransaction(
      signature,
      answer => {
        const read = readTransaction(answer, signature)
        if (read.slot === slot) return read
        throw new NodeContradictionError(`the transaction is in slot ${read.slot}, and was listed in ${slot}`)
      },
      options
    )
    if (transaction === undefined) {
      throw new NodeUnavailableError(`no node has the transaction ${signature}, which one of them lists`)
    }
    known.set(signature, transaction)
    if (isFinalized) cache.save('transactions', signature, transaction)
  }

  return {
    /** Those that were read. */
    known: known as ReadonlyMap<string, KeptTransaction>,
    /**
     * Reads what is not known yet: from the cache, then from nodes, one call each.
     * @throws {NodeUnavailableError} no node has one of them.
     */
    async read(wanted: readonly WantedTransaction[], options: SolanaCallOptions): Promise<void> {
      for (const { signature, isFinalized } of wanted) if (isFinalized) final.add(signature)
      const unread = wanted.filter(({ signature }) => !known.has(signature))
      const names = unread.filter(({ isFinalized }) => isFinalized).map(({ signature }) => signature)
      for (const [name, { value }] of await cache.read<KeptTransaction>('transactions', names))
        known.set(name, value)
      const missing = unread.filter(({ signature }) => !known.has(signature))
      counts.kept += unread.length - missing.length
      counts.read += missing.length
      await mapConcurrently(missing, callsAtOnce, each => readOne(each, options))
    },
    /** Reads one transaction of which no list is known; `undefined` where no node has it. */
    async find(signature: string, options: SolanaCallOptions): Promise<KeptTransaction | undefined> {
      const kept = (await cache.read<KeptTransaction>('transactions', [signature])).get(signature)?.value
      const read = (answer: unknown) => readTransaction(answer, signature)
      const found = kept ?? (await rpc.getTransaction(signature, read, options))
      if (found !== undefined) known.set(signature, found)
      return found
    },
    /** Gives transactions of one slot the index that they have in their block. One call, where it is not known. */
    async readIndexes(signatures: readonly string[], options: SolanaCallOptions): Promise<void> {
      const transactions = signatures.flatMap(each => known.get(each) ?? [])
      const [first] = transactions
      if (first === undefined || transactions.every(({ index }) => index !== undefined)) return
      const inBlock = await rpc.getBlockSignatures(first.slot, options)
      for (const transaction of transactions) {
        const index = inBlock?.indexOf(transaction.signature) ?? -1
        if (index < 0) {
          throw new NodeUnavailableError(
            `no node tells the order of the ${transactions.length} transactions in the block of slot ${first.slot}`
          )
        }
        const placed = { ...transaction, index }
        known.set(transaction.signature, placed)
        if (final.has(transaction.signature)) cache.save('transactions', transaction.signature, placed)
      }
    }
  }
}
