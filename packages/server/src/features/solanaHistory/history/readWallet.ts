import type { SolanaCallOptions } from '../../../nodes/solana/nodes.ts'
import type { SolanaRpc } from '../../../nodes/solana/rpc.ts'
import { present as withValues } from '../../../platform/present.ts'
import { Refusal } from '../../../platform/refusal.ts'
import type { WalletBalances } from './checkContinuity.ts'
import { besideGaps, findGaps, forgetGaps } from './findGaps.ts'
import type { HistoryCache } from './HistoryCache.ts'
import type { SolanaHistoryRpc } from './historyRpc.ts'
import { readBalances } from './readBalances.ts'
import { type Cursor, type HistoryPart, readHistory } from './readHistory.ts'
import type { SolanaHistory, SolanaHistoryQuery } from './SolanaHistory.ts'
import { finalAfterSlots } from './signatureStream.ts'
import type { TransactionReader } from './TransactionReader.ts'
import { joinSearched, keepNewest, newestOf, type WalletAccounts } from './walletAccounts.ts'

interface WalletDeps {
  readonly rpc: SolanaRpc
  readonly historyRpc: SolanaHistoryRpc
  readonly cache: HistoryCache
  readonly reader: TransactionReader
  readonly callOptions: SolanaCallOptions
}

/**
 * Reads a part of a wallet's history, checks that nothing is missing from it, and keeps which accounts it has shown.
 * @param onReached - called with each slot down to which everything is read.
 */
export async function readWallet(
  query: SolanaHistoryQuery,
  deps: WalletDeps,
  onReached: (slot: number, share: number) => void
): Promise<SolanaHistory> {
  const { historyRpc, cache, reader } = deps
  const { wallet, limit, maxUnpaged } = query
  const withTokens = query.tokenAccounts === 'all'
  const before = await findCursor('before', query.before, deps)
  const until = await findCursor('until', query.until, deps)
  const { kept, newest, balances, present, firstSlot, toKeep } = await readAccounts(wallet, before, deps)
  onReached(before?.slot ?? balances?.slot ?? 0, 0)
  // A node that is behind the balances would seem to leave out the newest transactions.
  const options = { ...deps.callOptions, minContextSlot: balances?.slot }
  const most = limit ?? (maxUnpaged === null ? Number.POSITIVE_INFINITY : maxUnpaged + 1)
  const range = {
    ...{ wallet, before, until, onReached, limit: most },
    present: withTokens ? present : undefined,
    former: withTokens ? (kept?.former ?? []).filter(({ account }) => !present.includes(account)) : [],
    asOf: before?.slot ?? newest?.slot ?? Number.POSITIVE_INFINITY,
    // Lists of other accounts may have been read since: a page is of one slot.
    upTo: before === undefined && newest !== undefined ? newest.slot : Number.POSITIVE_INFINITY
  }
  const lists = { rpc: historyRpc, cache, reader, options }
  const asOf = balances?.slot ?? kept?.asOf ?? 0
  const state = before === undefined ? balances : undefined
  const around = { ...lists, state, firstSlot, finalSlot: asOf - finalAfterSlots }
  let part = await readHistory(lists, range)
  if (limit === undefined && maxUnpaged !== null && part.transactions.length > maxUnpaged) {
    throw tooMany(maxUnpaged)
  }
  let gaps = await findGaps(part, query, around)
  // A wrong answer of a node leaves a gap beside it, and a right one in its place leaves none.
  while (await reader.readAgain(besideGaps(gaps, part), options)) {
    part = await readHistory(lists, { ...range, asOf: before?.slot ?? asOf })
    gaps = await findGaps(part, query, around)
  }
  forgetGaps(gaps, part, reader)
  const reachedSlot = part.reachedSlot < 0 ? (until?.slot ?? 0) : part.reachedSlot
  const searched = joinSearched(kept, before?.slot ?? asOf, reachedSlot)
  if (withTokens) {
    const accounts = {
      asOf,
      present,
      ...searched,
      former: part.former,
      ...withValues({ firstSlot, newest: toKeep })
    }
    cache.save('lists', accountsName(wallet), accounts satisfies WalletAccounts)
  }
  return {
    ...{ transactions: part.transactions, isFinalized: part.isFinalized, gaps, toSlot: asOf },
    tokenAccounts: withTokens ? present.length + part.former.length : 0,
    ...(withTokens && { closedFrom: Math.max(searched.searchedTo, firstSlot ?? 0) }),
    late: lateIn(part),
    ...withValues({ fromSlot: firstSlot, balances: state })
  }
}

async function findCursor(
  name: 'before' | 'until',
  signature: string | undefined,
  { reader, callOptions }: WalletDeps
): Promise<Cursor | undefined> {
  if (signature === undefined) return undefined
  const found = await reader.find(signature, callOptions)
  if (found !== undefined) return { signature, slot: found.slot }
  const path = `/params/1/${name}`
  const message = `${name} must be the signature of a transaction; no node knows ${signature.slice(0, 100)}.`
  throw new Refusal('INVALID_PARAMS', message, { path })
}

/** Reads the accounts of a wallet: as they are kept where they are new, or reach up to `before`; else from nodes. */
async function readAccounts(
  wallet: string,
  before: Cursor | undefined,
  { rpc, historyRpc, cache, callOptions }: WalletDeps
) {
  const name = accountsName(wallet)
  const kept = (await cache.read<WalletAccounts>('lists', [name])).get(name)?.value
  const startMs = Date.now()
  const newest = newestOf(kept)
  const isKept = before === undefined ? newest !== undefined : (kept?.asOf ?? -1) >= before.slot
  if (isKept) {
    const present = newest === undefined ? (kept?.present ?? []) : tokenAccountsOf(wallet, newest)
    const toKeep = newest && kept?.newest
    return { kept, newest, balances: newest, present, firstSlot: kept?.firstSlot, toKeep }
  }
  const balances = await readBalances(rpc, wallet, callOptions)
  const firstSlot = await historyRpc.getFirstAvailableBlock(callOptions)
  const present = tokenAccountsOf(wallet, balances)
  return { kept, newest, balances, present, firstSlot, toKeep: keepNewest(balances, startMs) }
}

function tokenAccountsOf(wallet: string, { balances, unreadable }: WalletBalances): readonly string[] {
  return [...[...balances.keys()].filter(account => account !== wallet), ...unreadable]
}

function lateIn({ late }: HistoryPart): SolanaHistory['late'] {
  return late.flatMap(({ account, skipped }) => {
    if (skipped === undefined) return []
    const { count: transactions, newest, oldest } = skipped
    return [{ account, transactions, newest: newest.signature, oldest: oldest.signature }]
  })
}

function accountsName(wallet: string): string {
  return `accounts:${wallet}`
}

function tooMany(maxUnpaged: number): Refusal {
  return new Refusal(
    'TOO_MANY_RESULTS',
    `The history has more than ${maxUnpaged} records: ask for pages with limit and before, each of which names its own gaps.`,
    { maxUnpaged }
  )
}
