import { ChainDataError } from '@chain-data/index'
import type { SolanaCallOptions } from '../../../nodes/solana/nodes.ts'
import { mapConcurrently } from '../../../platform/concurrency/permits.ts'
import { NodeContradictionError, NodeUnavailableError } from '../../../platform/errors.ts'
import type { HistoryCache } from './HistoryCache.ts'
import type { ListedSignature, SolanaHistoryRpc } from './historyRpc.ts'
import type { KeptTransaction } from './KeptTransaction.ts'
import { readTransaction } from './readTransaction.ts'

/** A transaction that is asked for, as lists have it. */
export interface WantedTransaction extends ListedSignature {
  /** The accounts in whose lists it is: it has to name them. */
  readonly accounts: readonly string[]
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
  const listed = new Map<string, WantedTransaction>()
  /** Names of the nodes that gave the transactions that are not from the cache. */
  const givenBy = new Map<string, string>()
  const readTwice = new Set<string>()
  let hasRefused = false

  /** @returns `undefined` where no node has it. */
  async function readOne(
    signature: string,
    options: SolanaCallOptions & { readonly avoid?: string | undefined }
  ): Promise<KeptTransaction | undefined> {
    const wanted = listed.get(signature)
    const unlisted = new Map<string, string>()
    const read = (answer: unknown, node: string) => {
      const transaction = readTransaction(answer, signature)
      const difference = wanted && differenceFromList(transaction, wanted)
      if (difference === undefined) return { transaction, node }
      const body = bodyOf(transaction)
      const isAgreed = [...unlisted].some(([name, other]) => name !== node && other === body)
      unlisted.set(node, body)
      if (!isAgreed) throw new NodeContradictionError(difference)
      // Two nodes that say the same are believed before a list.
      hasRefused = true
      return { transaction, node }
    }
    const found = await rpc.getTransaction(signature, read, options)
    if (found === undefined) return undefined
    known.set(signature, found.transaction)
    givenBy.set(signature, found.node)
    if (wanted?.isFinalized) cache.save('transactions', signature, found.transaction)
    return found.transaction
  }

  async function readListed(signature: string, options: SolanaCallOptions): Promise<void> {
    try {
      if ((await readOne(signature, options)) !== undefined) return
      throw new NodeContradictionError(`no node has the transaction ${signature}, which one of them lists`)
    } catch (error) {
      if (error instanceof NodeContradictionError) hasRefused = true
      throw error
    }
  }

  return {
    /** Those that were read. */
    known: known as ReadonlyMap<string, KeptTransaction>,
    /** Reports whether there is a transaction of which no node gave what the lists say: they may be wrong. */
    hasRefused: () => hasRefused,
    /**
     * Reads what is not known yet: from the cache, then from nodes, one call each. What is not as the lists say is read again.
     * @throws {NodeContradictionError} no node has one of them, or each gives another one than is listed.
     */
    async read(wanted: readonly WantedTransaction[], options: SolanaCallOptions): Promise<void> {
      for (const each of wanted) listed.set(each.signature, each)
      const isUnread = (each: WantedTransaction) => {
        const transaction = known.get(each.signature)
        return transaction === undefined || differenceFromList(transaction, each) !== undefined
      }
      const unread = wanted.filter(isUnread)
      const names = unread.filter(({ isFinalized }) => isFinalized).map(({ signature }) => signature)
      for (const [name, { value }] of await cache.read<KeptTransaction>('transactions', names))
        known.set(name, value)
      const missing = unread.filter(isUnread)
      counts.kept += unread.length - missing.length
      counts.read += missing.length
      await mapConcurrently(missing, callsAtOnce, ({ signature }) => readListed(signature, options))
    },
    /**
     * Reads some transactions again, each once, and from another node than before where there is one.
     * @returns whether one of them is another now.
     */
    async readAgain(signatures: Iterable<string>, options: SolanaCallOptions): Promise<boolean> {
      const once = [...new Set(signatures)].filter(each => known.has(each) && !readTwice.has(each))
      const some = once.slice(0, callsAtOnce)
      counts.read += some.length
      const before = some.map(each => bodyOf(known.get(each)))
      for (const each of some) readTwice.add(each)
      // Whatever fails here leaves the answer as it is, which names the gap.
      await mapConcurrently(some, callsAtOnce, each =>
        readOne(each, { ...options, avoid: givenBy.get(each) }).catch(error => {
          if (!(error instanceof ChainDataError)) throw error
        })
      )
      return some.some((each, at) => bodyOf(known.get(each)) !== before[at])
    },
    /** Has those of some transactions that were read again read from nodes by the next call, too. */
    forget(signatures: Iterable<string>): void {
      for (const each of new Set(signatures)) if (readTwice.has(each)) cache.forget('transactions', each)
    },
    /** Reads one transaction of which no list is known; `undefined` where no node has it. */
    async find(signature: string, options: SolanaCallOptions): Promise<KeptTransaction | undefined> {
      const kept = (await cache.read<KeptTransaction>('transactions', [signature])).get(signature)?.value
      if (kept !== undefined) known.set(signature, kept)
      return kept ?? readOne(signature, options)
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
        if (listed.get(transaction.signature)?.isFinalized)
          cache.save('transactions', transaction.signature, placed)
      }
    }
  }
}

/** A transaction without its index, which another call tells. */
function bodyOf(transaction: KeptTransaction | undefined): string {
  return JSON.stringify({ ...transaction, index: undefined })
}

/** Compares a transaction with what lists say of it. @returns the difference; `undefined` where there is none. */
function differenceFromList(
  { slot, error, blockTime, memo, accounts }: KeptTransaction,
  listed: WantedTransaction
): string | undefined {
  const { facts } = listed
  const differs = (what: string, found: unknown, expected: unknown) =>
    `the transaction has ${what} ${String(found).slice(0, 100)}, and was listed with ${String(expected).slice(0, 100)}`
  if (slot !== listed.slot) return differs('slot', slot, listed.slot)
  const unnamed = listed.accounts.find(each => !accounts.some(([address]) => address === each))
  if (unnamed !== undefined) return `the transaction does not name ${unnamed}, in whose list it is`
  if (facts === undefined) return undefined
  const [found, expected] = [error, facts.error].map(each => JSON.stringify(each))
  if (found !== expected) return differs('error', found, expected)
  const isOtherTime =
    blockTime !== undefined && facts.blockTime !== undefined && blockTime !== facts.blockTime
  if (isOtherTime) return differs('block time', blockTime, facts.blockTime)
  return facts.memo === undefined || facts.memo === memo ? undefined : differs('memo', memo, facts.memo)
}
