import type { Balance, WalletBalances } from './checkContinuity.ts'
import type { WalletTransaction } from './walletView.ts'

/** A token account that the wallet owned once, and does not own now. */
export interface FormerAccount {
  readonly account: string
  /** The newest transaction that shows it outside of its own list. */
  readonly shownBy: { readonly signature: string; readonly slot: number; readonly isFinalized: boolean }
  /** Whether the wallet still owned it after that: somebody else closed it later, so its newest transactions count as well. */
  readonly isKept: boolean
}

/** The token accounts of a wallet, as they are kept. */
export interface WalletAccounts {
  /** The slot at which `present` was read. */
  readonly asOf: number
  readonly present: readonly string[]
  readonly former: readonly FormerAccount[]
  /** All transactions from `searchedTo` up to `searchedFrom` were searched for former accounts. */
  readonly searchedFrom: number
  readonly searchedTo: number
  /** First slot that the nodes have; absent where none says it. */
  readonly firstSlot?: number
  /** The balances at `asOf`; absent once they are not new any more. */
  readonly newest?: KeptBalances
}

/** Balances as they are kept. */
interface KeptBalances extends Omit<WalletBalances, 'balances'> {
  readonly readAtMs: number
  readonly balances: readonly (readonly [account: string, balance: Balance])[]
}

/** How long the newest page is given again as it was read: until then no node is asked what is new. */
export const newestForMs = 5_000

/** The balances that are kept, while they are new. */
export function newestOf(accounts: WalletAccounts | undefined): WalletBalances | undefined {
  const newest = accounts?.newest
  if (newest === undefined || Date.now() - newest.readAtMs >= newestForMs) return undefined
  return { ...newest, balances: new Map(newest.balances) }
}

/** @param readAtMs - When they were asked for. */
export function keepNewest(
  { slot, oldestSlot, balances, unreadable }: WalletBalances,
  readAtMs: number
): KeptBalances {
  return { ...{ slot, oldestSlot, unreadable, readAtMs }, balances: [...balances] }
}

/**
 * Finds the token accounts that transactions show and that are not known yet, or are shown by a newer transaction than so far.
 * @param transactions - newest first.
 */
export function findFormerAccounts(
  transactions: readonly WalletTransaction[],
  present: ReadonlySet<string>,
  known: ReadonlyMap<string, FormerAccount>,
  isFinalized: (signature: string) => boolean
): readonly FormerAccount[] {
  const found = new Map<string, FormerAccount>()
  for (const { transaction, shown } of transactions) {
    const { signature, slot } = transaction
    for (const [account, isKept] of shown) {
      if (present.has(account) || found.has(account)) continue
      const before = known.get(account)
      const isFinal = isFinalized(signature)
      // Where its own list is read from the newest on, everything of it is known.
      const isKnown = before !== undefined && (before.isKept || before.shownBy.slot >= slot)
      if (isKnown && (before.shownBy.isFinalized || !isFinal)) continue
      found.set(account, { account, isKept, shownBy: { signature, slot, isFinalized: isFinal } })
    }
  }
  return [...found.values()]
}

/** Joins a searched range to what was searched before. */
export function joinSearched(
  known: Pick<WalletAccounts, 'searchedFrom' | 'searchedTo'> | undefined,
  from: number,
  to: number
): Pick<WalletAccounts, 'searchedFrom' | 'searchedTo'> {
  const touches = known !== undefined && to <= known.searchedFrom && from >= known.searchedTo
  if (!touches) return { searchedFrom: from, searchedTo: to }
  return { searchedFrom: Math.max(from, known.searchedFrom), searchedTo: Math.min(to, known.searchedTo) }
}
