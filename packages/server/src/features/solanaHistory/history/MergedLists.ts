import type { SolanaCallOptions } from '../../../nodes/solana/nodes.ts'
import { mapConcurrently } from '../../../platform/concurrency/permits.ts'
import type { HistoryCache } from './HistoryCache.ts'
import type { SolanaHistoryRpc } from './historyRpc.ts'
import { createSignatureStream, headName, type KeptHead, type SignatureStream } from './signatureStream.ts'
import { callsAtOnce, type WantedTransaction } from './TransactionReader.ts'
import type { FormerAccount } from './walletAccounts.ts'

interface MergedListsOptions {
  readonly rpc: SolanaHistoryRpc
  readonly cache: HistoryCache
  readonly options: SolanaCallOptions
  /** The slot that lists are opened at. */
  readonly fromSlot: number
  /** Entries of older slots are left out. */
  readonly untilSlot: number
  /** Likewise those of newer ones. */
  readonly upTo: number
  /** The slot up to which lists have to be known. */
  readonly asOf: number
}

/**
 * The lists of a wallet and of its token accounts, each read backwards, merged by slot. A slot is used once every list is known
 * down to below it.
 */
export class MergedLists {
  readonly #options: MergedListsOptions
  readonly #streams = new Map<string, SignatureStream>()
  readonly #finalized = new Map<string, boolean>()

  constructor(options: MergedListsOptions) {
    this.#options = options
  }

  /** The lists, by account. */
  get streams(): ReadonlyMap<string, SignatureStream> {
    return this.#streams
  }

  isFinalized(signature: string): boolean {
    return this.#finalized.get(signature) ?? false
  }

  /** Drops what is kept of the lists: the next call asks nodes for all of them again. */
  forget(): void {
    for (const stream of this.#streams.values()) stream.forget()
  }

  /** @param former - What is known of those that the wallet does not own now. */
  async open(accounts: readonly string[], former: ReadonlyMap<string, FormerAccount>): Promise<void> {
    const { rpc, cache, fromSlot, asOf } = this.#options
    const heads = await cache.read<KeptHead>('lists', accounts.map(headName))
    for (const account of accounts) {
      const once = former.get(account)
      // What is not final yet may come in a newer slot.
      const isLast = once !== undefined && !once.isKept && once.shownBy.isFinalized
      const newest = isLast ? Math.min(fromSlot, once.shownBy.slot) : fromSlot
      const head = heads.get(headName(account))?.value
      const range = { fromSlot: newest, asOf: Math.min(asOf, newest) }
      this.#streams.set(account, createSignatureStream({ rpc, cache, account, head, ...range }))
    }
  }

  /** Loads lists until so many transactions are certain, or all are. @returns their entries, newest slot first, and the slot above which they are certain. */
  async load(
    count: number
  ): Promise<{ readonly entries: readonly WantedTransaction[]; readonly reach: number }> {
    const { untilSlot, upTo, options } = this.#options
    for (;;) {
      const reach = Math.max(-1, ...[...this.#streams.values()].map(stream => stream.reach))
      const listed = this.#listedAbove(reach)
      if (listed.length > count || reach < untilSlot || reach < 0) {
        const entries = listed.filter(({ slot }) => slot >= untilSlot && slot <= upTo)
        return { entries: entries.sort((a, b) => b.slot - a.slot), reach }
      }
      const shortest = [...this.#streams.values()].filter(stream => stream.reach === reach)
      await mapConcurrently(shortest, callsAtOnce, stream => stream.load(options))
    }
  }

  /** Returns each transaction above a slot once, with all accounts that list it. */
  #listedAbove(reach: number): WantedTransaction[] {
    const bySignature = new Map<string, WantedTransaction & { accounts: string[] }>()
    for (const { account, entries } of this.#streams.values()) {
      for (const entry of entries) {
        if (entry.slot <= reach) break
        const listed = bySignature.get(entry.signature)
        if (listed === undefined) bySignature.set(entry.signature, { ...entry, accounts: [account] })
        else listed.accounts.push(account)
        this.#finalized.set(entry.signature, entry.isFinalized || this.isFinalized(entry.signature))
      }
    }
    return [...bySignature.values()]
  }
}
