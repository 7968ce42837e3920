import { checkContinuity, type Gap, type WalletBalances } from './checkContinuity.ts'
import { explainGaps } from './explainGaps.ts'
import type { KeptTransaction } from './KeptTransaction.ts'
import type { HistoryDeps, HistoryPart } from './readHistory.ts'
import type { SolanaHistoryQuery } from './SolanaHistory.ts'
import type { TransactionReader } from './TransactionReader.ts'
import { viewFromWallet, type WalletTransaction } from './walletView.ts'

/** What is known beside a part, and the sources of the rest. */
interface PartSurroundings extends HistoryDeps {
  /** Balances of today, where the part reaches up to them. */
  readonly state: WalletBalances | undefined
  /** Transactions up to this slot are final. */
  readonly finalSlot: number
  /** First slot that the nodes have; absent: none says it. */
  readonly firstSlot: number | undefined
}

/** Compares the balances of a part with each other, with the transactions around it, and with those of today. */
export async function findGaps(
  part: HistoryPart,
  query: SolanaHistoryQuery,
  around: PartSurroundings
): Promise<readonly Gap[]> {
  const { state, firstSlot } = around
  const { wallet } = query
  const { transactions, streams } = part
  const lowest = transactions.at(-1)?.transaction
  const neighbours = state === undefined ? await readNewer(part, query, around) : new Map()
  const gaps = checkContinuity(transactions, {
    ...{ wallet, state: state && onlyAsked(state, query) },
    newerOf: account => neighbours.get(account),
    isOldest: account => {
      const stream = streams.get(account)
      if (stream?.end === undefined || query.until !== undefined) return false
      const last = stream.entries.at(-1)
      if (last === undefined || lowest === undefined || part.reachedSlot < 0) return true
      return last.slot > lowest.slot || last.signature === lowest.signature
    },
    beginning: firstSlot === 0 || firstSlot === 1 ? 'missing' : 'pruned'
  })
  const shown = query.tokenAccounts === 'none' ? gaps.filter(({ account }) => account === wallet) : gaps
  return explainGaps(shown, wallet, around)
}

/** Reads the transaction just newer than a part, of each account that the part changes: kept by now, mostly. */
async function readNewer(
  { transactions, streams }: HistoryPart,
  { wallet, before }: SolanaHistoryQuery,
  { reader, options }: HistoryDeps
): Promise<ReadonlyMap<string, WalletTransaction>> {
  const changed = new Set([
    wallet,
    ...transactions.flatMap(({ tokens }) => tokens.map(({ account }) => account))
  ])
  const cursor = before === undefined ? undefined : reader.known.get(before)
  const newer = new Map<string, WalletTransaction>()
  const isOwn = (account: string) => streams.has(account)
  for (const account of changed) {
    const above = cursor && (await nextAbove(account, cursor))
    const view = above && viewFromWallet(above, wallet, isOwn)
    if (view !== undefined) newer.set(account, view)
  }
  return newer

  async function nextAbove(account: string, last: KeptTransaction): Promise<KeptTransaction | undefined> {
    if (last.accounts.some(([address]) => address === account)) return last
    const { entries = [], skipped } = streams.get(account) ?? {}
    const inSlot = entries
      .filter(({ slot }) => slot === last.slot)
      .flatMap(({ signature }) => reader.known.get(signature) ?? [])
      .filter(({ index }) => (index ?? 0) > (last.index ?? 0))
    if (inSlot.length > 0) return lowestOf(inSlot)
    if (skipped === undefined) return undefined
    const signatures = skipped.inOldestSlot.map(({ signature }) => signature)
    await reader.read(
      skipped.inOldestSlot.map(each => ({ ...each, accounts: [account] })),
      options
    )
    if (signatures.length > 1) await reader.readIndexes(signatures, options)
    return lowestOf(signatures.flatMap(signature => reader.known.get(signature) ?? []))
  }
}

function lowestOf(transactions: readonly KeptTransaction[]): KeptTransaction | undefined {
  return [...transactions].sort((a, b) => (a.index ?? 0) - (b.index ?? 0))[0]
}

function onlyAsked(state: WalletBalances, { wallet, tokenAccounts }: SolanaHistoryQuery): WalletBalances {
  if (tokenAccounts === 'all') return state
  return { ...state, balances: new Map([...state.balances].filter(([account]) => account === wallet)) }
}

/** The transactions that may be wrong where a gap is: its two neighbours, and what the account's list has between them. */
export function* besideGaps(gaps: readonly Gap[], { streams }: HistoryPart): Iterable<string> {
  for (const { account, older, newer, cause } of gaps) {
    if (cause !== 'missing') continue
    for (const each of [older, newer]) if (each !== undefined) yield each.transaction.signature
    const from = older?.transaction.slot ?? -1
    const to = newer?.transaction.slot ?? Number.POSITIVE_INFINITY
    for (const { signature, slot } of streams.get(account)?.entries ?? [])
      if (slot >= from && slot <= to) yield signature
  }
}

/** The node may have been wrong only this time: the next reading asks anew for the lists of gaps and for what lies beside them. */
export function forgetGaps(gaps: readonly Gap[], part: HistoryPart, reader: TransactionReader): void {
  for (const { cause, account } of gaps) if (cause === 'missing') part.streams.get(account)?.forget()
  reader.forget(besideGaps(gaps, part))
}
