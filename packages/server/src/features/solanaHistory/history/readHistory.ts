import type { SolanaCallOptions } from '../../../nodes/solana/nodes.ts'
import type { HistoryCache } from './HistoryCache.ts'
import type { SolanaHistoryRpc } from './historyRpc.ts'
import { MergedLists } from './MergedLists.ts'
import type { SignatureStream } from './signatureStream.ts'
import type { TransactionReader, WantedTransaction } from './TransactionReader.ts'
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

export interface HistoryDeps {
  readonly rpc: SolanaHistoryRpc
  readonly cache: HistoryCache
  readonly reader: TransactionReader
  readonly options: SolanaCallOptions
}

/**
 * Reads a part of a wallet's history from the merged lists of the wallet and of its token accounts. Former accounts that its
 * transactions show join the merge, until there is none more.
 */
export async function readHistory(deps: HistoryDeps, range: HistoryRange): Promise<HistoryPart> {
  const { rpc, cache, reader, options } = deps
  const { wallet, present = [], before, until, limit, asOf, upTo } = range
  const [fromSlot, untilSlot] = [before?.slot ?? Number.POSITIVE_INFINITY, until?.slot ?? -1]
  const presentSet = new Set(present)
  const former = new Map(range.former.map(each => [each.account, each]))
  const lists = new MergedLists({ rpc, cache, options, fromSlot, untilSlot, upTo, asOf })
  const isOwn = (account: string) => presentSet.has(account) || former.has(account)
  const isFinalized = (signature: string) => lists.isFinalized(signature)
  let wanted = limit

  await lists.open([wallet, ...present, ...(range.present === undefined ? [] : former.keys())], former)
  for (;;) {
    const { entries, reach } = await lists.load(wanted)
    const taken = wholeSlots(entries, wanted)
    await readListed(taken)
    const own = taken.flatMap(({ signature }) => {
      const transaction = reader.known.get(signature)
      return (transaction && viewFromWallet(transaction, wallet, isOwn)) ?? []
    })
    const transactions = await orderBetween(own, range, deps)
    const found =
      range.present === undefined ? [] : findFormerAccounts(transactions, presentSet, former, isFinalized)
    for (const each of found) former.set(each.account, each)
    if (found.length > 0) {
      await lists.open(
        found.map(({ account }) => account),
        former
      )
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
      const stream = lists.streams.get(account)
      const isHere = page.some(({ transaction }) => transaction.signature === shownBy.signature)
      return isKept && isHere && stream?.skipped !== undefined ? [stream] : []
    })
    const { streams } = lists
    return { transactions: page, reachedSlot, former: [...former.values()], streams, isFinalized, late }
  }

  /** Reads transactions. Where no node's fits the lists, the next call asks for all lists again. */
  async function readListed(entries: readonly WantedTransaction[]): Promise<void> {
    for (let start = 0; start < entries.length; start += transactionsPerRound) {
      const some = entries.slice(start, start + transactionsPerRound)
      try {
        await reader.read(some, options)
      } finally {
        if (reader.hasRefused()) lists.forget()
      }
      range.onReached(some.at(-1)?.slot ?? 0, (start + some.length) / entries.length)
    }
  }
}

/** Orders transactions newest first, those of one slot by their index, and leaves out what is not between the ends of a range. */
async function orderBetween(
  transactions: readonly WalletTransaction[],
  { before, until }: Pick<HistoryRange, 'before' | 'until'>,
  { reader, options }: Pick<HistoryDeps, 'reader' | 'options'>
): Promise<readonly WalletTransaction[]> {
  const ends = [before, until].filter(end => end !== undefined)
  const bySlot = new Map<number, WalletTransaction[]>()
  for (const each of transactions) {
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

/** Transactions read between two looks at how far the reading is. */
const transactionsPerRound = 256

/** The first entries, at least so many of them, and of the last slot all. */
function wholeSlots(entries: readonly WantedTransaction[], count: number): readonly WantedTransaction[] {
  const last = entries[Math.min(count, entries.length) - 1]
  return last === undefined ? [] : entries.filter(({ slot }) => slot >= last.slot)
}
