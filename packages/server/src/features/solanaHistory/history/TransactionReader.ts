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

/** Calls of one answer in flight; the upstreams have their own, lower bounds. */
export const callsAtOnce = 64

/** The transactions of one answer: each is read once. */
export class TransactionReader {
  readonly #rpc: SolanaHistoryRpc
  readonly #cache: HistoryCache
  readonly #counts: { kept: number; read: number }
  readonly #known = new Map<string, KeptTransaction>()
  readonly #listed = new Map<string, WantedTransaction>()
  /** Names of the nodes that gave the transactions that are not from the cache. */
  readonly #givenBy = new Map<string, string>()
  readonly #readTwice = new Set<string>()
  #hasRefused = false

  /** @param counts - Raised by the transactions that the cache had, and by those that nodes were asked for. */
  constructor(rpc: SolanaHistoryRpc, cache: HistoryCache, counts: { kept: number; read: number }) {
    this.#rpc = rpc
    this.#cache = cache
    this.#counts = counts
  }

  /** Those that were read. */
  get known(): ReadonlyMap<string, KeptTransaction> {
    return this.#known
  }

  /** Reports whether there is a transaction of which no node gave what the lists say: they may be wrong. */
  hasRefused(): boolean {
    return this.#hasRefused
  }

  /**
   * Reads what is not known yet: from the cache, then from nodes, one call each. What is not as the lists say is read again.
   * @throws {NodeContradictionError} no node has one of them, or each gives another one than is listed.
   */
  async read(wanted: readonly WantedTransaction[], options: SolanaCallOptions): Promise<void> {
    for (const each of wanted) this.#listed.set(each.signature, each)
    const isUnread = (each: WantedTransaction) => {
      const transaction = this.#known.get(each.signature)
      return transaction === undefined || differenceFromList(transaction, each) !== undefined
    }
    const unread = wanted.filter(isUnread)
    const names = unread.filter(({ isFinalized }) => isFinalized).map(({ signature }) => signature)
    for (const [name, { value }] of await this.#cache.read<KeptTransaction>('transactions', names))
      this.#known.set(name, value)
    const missing = unread.filter(isUnread)
    this.#counts.kept += unread.length - missing.length
    this.#counts.read += missing.length
    await mapConcurrently(missing, callsAtOnce, ({ signature }) => this.#readListed(signature, options))
  }

  /**
   * Reads some transactions again, each once, and from another node than before where there is one.
   * @returns whether one of them is another now.
   */
  async readAgain(signatures: Iterable<string>, options: SolanaCallOptions): Promise<boolean> {
    const once = [...new Set(signatures)].filter(each => this.#known.has(each) && !this.#readTwice.has(each))
    const some = once.slice(0, callsAtOnce)
    this.#counts.read += some.length
    const before = some.map(each => bodyOf(this.#known.get(each)))
    for (const each of some) this.#readTwice.add(each)
    // Whatever fails here leaves the answer as it is, which names the gap.
    await mapConcurrently(some, callsAtOnce, each =>
      this.#readOne(each, { ...options, avoid: this.#givenBy.get(each) }).catch(error => {
        if (!(error instanceof ChainDataError)) throw error
      })
    )
    return some.some((each, at) => bodyOf(this.#known.get(each)) !== before[at])
  }

  /** Has those of some transactions that were read again read from nodes by the next call, too. */
  forget(signatures: Iterable<string>): void {
    for (const each of new Set(signatures))
      if (this.#readTwice.has(each)) this.#cache.forget('transactions', each)
  }

  /** Reads one transaction of which no list is known; `undefined` where no node has it. */
  async find(signature: string, options: SolanaCallOptions): Promise<KeptTransaction | undefined> {
    const kept = (await this.#cache.read<KeptTransaction>('transactions', [signature])).get(signature)?.value
    if (kept !== undefined) this.#known.set(signature, kept)
    return kept ?? this.#readOne(signature, options)
  }

  /** Gives transactions of one slot the index that they have in their block. One call, where it is not known. */
  async readIndexes(signatures: readonly string[], options: SolanaCallOptions): Promise<void> {
    const transactions = signatures.flatMap(each => this.#known.get(each) ?? [])
    const [first] = transactions
    if (first === undefined || transactions.every(({ index }) => index !== undefined)) return
    const inBlock = await this.#rpc.getBlockSignatures(first.slot, options)
    for (const transaction of transactions) {
      const index = inBlock?.indexOf(transaction.signature) ?? -1
      if (index < 0) {
        throw new NodeUnavailableError(
          `no node tells the order of the ${transactions.length} transactions in the block of slot ${first.slot}`
        )
      }
      const placed = { ...transaction, index }
      this.#known.set(transaction.signature, placed)
      if (this.#listed.get(transaction.signature)?.isFinalized)
        this.#cache.save('transactions', transaction.signature, placed)
    }
  }

  /** @returns `undefined` where no node has it. */
  async #readOne(
    signature: string,
    options: SolanaCallOptions & { readonly avoid?: string | undefined }
  ): Promise<KeptTransaction | undefined> {
    const wanted = this.#listed.get(signature)
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
      this.#hasRefused = true
      return { transaction, node }
    }
    const found = await this.#rpc.getTransaction(signature, read, options)
    if (found === undefined) return undefined
    this.#known.set(signature, found.transaction)
    this.#givenBy.set(signature, found.node)
    if (wanted?.isFinalized) this.#cache.save('transactions', signature, found.transaction)
    return found.transaction
  }

  async #readListed(signature: string, options: SolanaCallOptions): Promise<void> {
    try {
      if ((await this.#readOne(signature, options)) !== undefined) return
      throw new NodeContradictionError(`no node has the transaction ${signature}, which one of them lists`)
    } catch (error) {
      if (error instanceof NodeContradictionError) this.#hasRefused = true
      throw error
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
