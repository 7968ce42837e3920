import type { SolanaCallOptions } from '../../../nodes/solana/nodes.ts'
import { mapConcurrently } from '../../../platform/concurrency/permits.ts'
import type { HistoryCache } from './HistoryCache.ts'
import type { ListedSignature, SolanaHistoryRpc } from './historyRpc.ts'
import { createSignatureStream, headName, type KeptHead, type SignatureStream } from './signatureStream.ts'
import { callsAtOnce, type TransactionReader, type WantedTransaction } from './TransactionReader.ts'
import { type FormerAccount, findFormerAccounts } from './walletAccounts.ts'
import { viewFromWallet, type WalletTransaction } from './walletView.ts'

/** A transaction as the end of a range; it is not in it. */
export interface Cursor {
  readonly slot: number
  readonly signature: string
}

export interface HistoryRange {
  readonly wallet: string
  /** Token accounts of today; `undefined`: only transactions that name the wallet itself are asked for. */
  readonly present: readonly string[] | undefined
  /** Former token accounts that are known already. */
  readonly former: readonly FormerAccount[]
  readonly before: Cursor | undefined
  readonly until: Cursor | undefined
  /** Number of transactions; infinite: all. */
  readonly limit: number
  /** The slot up to which lists have to be known. */
  readonly asOf: number
  /** Transactions of newer slots are left out. */
  readonly upTo: number
  /** Called with each slot down to which everything is read. */
  onReached(slot: number, readShare: number): void
}

export interface HistoryPart {
  /** Newest first. */
  readonly transactions: readonly WalletTransaction[]
  /** Every transaction down to this slot was searched; -1: all. */
  readonly reachedSlot: number
  readonly former: readonly FormerAccount[]
  readonly streams: ReadonlyMap<string, SignatureStream>
  isFinalized(signature: string): boolean
  /** Former accounts that this part shows first, and that have newer transactions than `before`. */
  readonly late: readonly SignatureStream[]
}

interface HistoryDeps {
  readonly rpc: SolanaHistoryRpc
  readonly cache: HistoryCache
  readonly reader: TransactionReader
  readonly options: SolanaCallOptions
}

/**
 * Reads a part of a wallet's history: the lists of the wallet and of its token accounts, each backwards, merged by slot. A slot is
 * used once every list is known down to below it. Former accounts that its transactions show join the merge, until there is none more.
 */
export async function readHistory(deps: HistoryDeps, range: HistoryRange): Promise<HistoryPart> {
  const { rpc, cache, reader, options } = deps
  const { wallet, present = [], before, until, limit, asOf, upTo } = range
  const fromSlot = before?.slot ?? Number.POSITIVE_INFINITY
  const untilSlot = until?.slot ?? -1
  const presentSet = new Set(present)
  const former = new Map(range.former.map(each => [each.account, each]))
  const streams = new Map<string, SignatureStream>()
  const finalized = new Map<string, boolean>()
  let wanted = limit

  async function open(accounts: readonly string[]): Promise<void> {
    const heads = await cache.read<KeptHead>('lists', accounts.map(headName))
    for (const account of accounts) {
      const once = former.get(account)
      // What is not final yet may come in a newer slot.
      const isLast = once !== undefined && !once.isKept && once.shownBy.isFinalized
      const newest = isLast ? Math.min(fromSlot, once.shownBy.slot) : fromSlot
      streams.set(
        account,
        createSignatureStream({
          ...{ rpc, cache, account, fromSlot: newest, asOf: Math.min(asOf, newest) },
          head: heads.get(headName(account))?.value
        })
      )
    }
  }

  /** Loads lists until so many transactions are certain, or all are. @returns their entries, newest slot first, and the slot above which they are certain. */
  async function loadEntries(count: number) {
    for (;;) {
      const reach = Math.max(-1, ...[...streams.values()].map(stream => stream.reach))
      const bySignature = new Map<string, WantedTransaction & { accounts: string[] }>()
      for (const { account, entries } of streams.values()) {
        for (const entry of entries) {
          if (entry.slot <= reach) break
          const listed = bySignature.get(entry.signature)
          if (listed === undefined) bySignature.set(entry.signature, { ...entry, accounts: [account] })
          else listed.accounts.push(account)
          finalized.set(entry.signature, entry.isFinalized || (finalized.get(entry.signature) ?? false))
        }
      }
      if (bySignature.size > count || reach < untilSlot || reach < 0) {
        const entries = [...bySignature.values()].sort((a, b) => b.slot - a.slot)
        return { entries: entries.filter(({ slot }) => slot >= untilSlot && slot <= upTo), reach }
      }
      const shortest = [...streams.values()].filter(stream => stream.reach === reach)
      await mapConcurrently(shortest, callsAtOnce, stream => stream.load(options))
    }
  }

  /** Reads transactions. Where no node's fits the lists, the next call asks for all lists again. */
  async function readListed(some: readonly WantedTransaction[]): Promise<void> {
    try {
      await reader.read(some, options)
    } finally {
      if (reader.hasRefused()) for (const stream of streams.values()) stream.forget()
    }
  }

  /** Transactions of the wallet among the entries, newest first; those of one slot by their index. */
  async function select(entries: readonly ListedSignature[]): Promise<readonly WalletTransaction[]> {
    const isOwn = (account: string) => presentSet.has(account) || former.has(account)
    const own = entries.flatMap(({ signature }) => {
      const transaction = reader.known.get(signature)
      return (transaction && viewFromWallet(transaction, wallet, isOwn)) ?? []
    })
    const ends = [before, until].filter(end => end !== undefined)
    const bySlot = new Map<number, WalletTransaction[]>()
    for (const each of own) {
      const { slot } = each.transaction
      bySlot.set(slot, [...(bySlot.get(slot) ?? []), each])
    }
    const ordered: WalletTransaction[] = []
    for (const [slot, group] of bySlot) {
      const cursors = ends.filter(end => end.slot === slot).map(({ signature }) => signature)
      const signatures = new Set([...group.map(({ transaction }) => transaction.signature), ...cursors])
      if (signatures.size > 1) await reader.readIndexes([...signatures], options)
      const indexOf = (signature: string) => reader.known.get(signature)?.index ?? 0
      const isInside = (signature: string) =>
        !cursors.includes(signature) &&
        (before?.slot !== slot || indexOf(signature) < indexOf(before.signature)) &&
        (until?.slot !== slot || indexOf(signature) > indexOf(until.signature))
      const inside = group
        .map(each => ({
          ...each,
          transaction: reader.known.get(each.transaction.signature) ?? each.transaction
        }))
        .filter(({ transaction }) => isInside(transaction.signature))
      ordered.push(...inside.sort((a, b) => (b.transaction.index ?? 0) - (a.transaction.index ?? 0)))
    }
    return ordered
  }

  await open([wallet, ...present, ...(range.present === undefined ? [] : former.keys())])
  for (;;) {
    const { entries, reach } = await loadEntries(wanted)
    const taken = wholeSlots(entries, wanted)
    const total = taken.length
    for (let start = 0; start < total; start += transactionsPerRound) {
      const some = taken.slice(start, start + transactionsPerRound)
      await readListed(some)
      range.onReached(some.at(-1)?.slot ?? 0, (start + some.length) / Math.max(1, total))
    }
    const transactions = await select(taken)
    const isFinalized = (signature: string) => finalized.get(signature) ?? false
    const found =
      range.present === undefined ? [] : findFormerAccounts(transactions, presentSet, former, isFinalized)
    for (const each of found) former.set(each.account, each)
    if (found.length > 0) {
      await open(found.map(({ account }) => account))
      continue
    }
    const isAll = taken.length === entries.length && (reach < 0 || reach < untilSlot)
    if (transactions.length < limit && !isAll) {
      wanted += Math.max(limit - transactions.length, transactionsPerRound)
      continue
    }
    const page = transactions.slice(0, limit)
    const isCut = page.length < transactions.length
    const lowest = page.at(-1)?.transaction.slot ?? -1
    const reachedSlot = isAll && !isCut ? -1 : lowest
    const late = [...former.values()].flatMap(({ account, isKept, shownBy }) => {
      const stream = streams.get(account)
      const isHere = page.some(({ transaction }) => transaction.signature === shownBy.signature)
      return isKept && isHere && stream?.skipped !== undefined ? [stream] : []
    })
    return { transactions: page, reachedSlot, former: [...former.values()], streams, isFinalized, late }
  }
}

/** Transactions read between two looks at how far the reading is. */
const transactionsPerRound = 256

/** The first entries, at least so many of them, and of the last slot all. */
function wholeSlots(entries: readonly WantedTransaction[], count: number): readonly WantedTransaction[] {
  const last = entries[Math.min(count, entries.length) - 1]
  return last === undefined ? [] : entries.filter(({ slot }) => slot >= last.slot)
}
