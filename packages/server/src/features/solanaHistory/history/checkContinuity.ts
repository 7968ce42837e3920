import type { WalletTransaction } from './walletView.ts'

/** A place where the balance of an account changed between two transactions that follow each other. */
export interface Gap {
  /** The wallet, for lamports; else the token account. */
  readonly account: string
  /** Absent for lamports. */
  readonly mint?: string
  readonly older?: WalletTransaction
  /** Absent: it lies between `older` and the state of today. */
  readonly newer?: WalletTransaction
  /** Balance after `older`, as digits; "0" without one. */
  readonly post: string
  /** Balance before `newer`, or today's. */
  readonly pre: string
  readonly cause: 'missing' | 'pruned' | 'rent' | 'reward'
}

/** What surrounds the transactions of an answer. */
export interface Surroundings {
  readonly wallet: string
  /** Balances at a slot, of the wallet under its own address; absent where the answer does not reach up to the newest transaction. */
  readonly state?: WalletBalances | undefined
  /** The next newer transaction of an account, where there is one and no state. */
  newerOf(account: string): WalletTransaction | undefined
  /** Whether the answer holds the oldest transaction that is known of an account. */
  isOldest(account: string): boolean
  /** Why an account may have had something before its oldest transaction. */
  readonly beginning: 'missing' | 'pruned'
}

/** What a wallet has. What is not named it does not have. */
export interface WalletBalances {
  /** The newest slot of the reads; mostly that of all. */
  readonly slot: number
  readonly oldestSlot: number
  /** Lamports under the wallet's own address, and each token account. */
  readonly balances: ReadonlyMap<string, Balance>
  /** Token accounts whose bytes were refused. */
  readonly unreadable: readonly string[]
}

export interface Balance {
  /** The slot that it was read at. */
  readonly slot: number
  readonly amount: string
  readonly mint?: string
}

/** One account in one transaction, or today (without a transaction). */
interface Link {
  readonly transaction?: WalletTransaction
  readonly pre: string
  readonly post: string
}

/**
 * Compares each balance after a transaction with the one before the next, of the wallet's lamports and of each of its token accounts.
 *
 * @param transactions - newest first, without one left out.
 * @returns the gaps, newest first.
 */
export function checkContinuity(
  transactions: readonly WalletTransaction[],
  around: Surroundings
): readonly Gap[] {
  const { wallet, state } = around
  const chains = new Map<string, Link[]>()
  const mints = new Map<string, string>()
  const add = (account: string, link: Link) => {
    const chain = chains.get(account)
    if (chain === undefined) chains.set(account, [link])
    else chain.push(link)
  }
  for (const each of transactions) {
    for (const { account, mint } of each.tokens) mints.set(account, mint)
    for (const [account, link] of linksOf(each, wallet)) add(account, link)
  }
  const today = new Map<string, Balance>()
  for (const [account, [newest]] of state === undefined ? [] : chains) {
    // Closed: at which of two slots is not known, so what happened between them is left out.
    const isSettled = (newest?.transaction?.transaction.slot ?? 0) <= (state?.oldestSlot ?? 0)
    if (isSettled) today.set(account, { amount: '0', slot: state?.slot ?? 0 })
  }
  for (const [account, balance] of state?.balances ?? []) today.set(account, balance)
  for (const account of state?.unreadable ?? []) today.delete(account)
  for (const [account, { amount, mint, slot }] of today) {
    if (mint !== undefined) mints.set(account, mint)
    const link = { pre: amount, post: amount }
    const chain = chains.get(account) ?? []
    // Transactions may be newer than the state.
    const at = chain.findIndex(({ transaction }) => (transaction?.transaction.slot ?? 0) <= slot)
    chain.splice(at < 0 ? chain.length : at, 0, link)
    chains.set(account, chain)
  }
  const gaps: Gap[] = []
  for (const [account, chain] of chains) {
    const newer = state === undefined ? around.newerOf(account) : undefined
    const above = newer && linksOf(newer, wallet).get(account)
    const links = above === undefined ? chain : [above, ...chain]
    const mint = mints.get(account)
    const gap = (newerLink: Link, olderLink: Link | undefined, cause: Gap['cause']): Gap => ({
      account,
      ...(mint !== undefined && { mint }),
      ...(olderLink?.transaction && { older: olderLink.transaction }),
      ...(newerLink.transaction && { newer: newerLink.transaction }),
      ...{ post: olderLink?.post ?? '0', pre: newerLink.pre, cause }
    })
    for (const [at, link] of links.entries()) {
      const next = links[at + 1]
      if (next !== undefined && next.post !== link.pre) gaps.push(gap(link, next, 'missing'))
      if (next === undefined && link.pre !== '0' && around.isOldest(account)) {
        gaps.push(gap(link, undefined, around.beginning))
      }
    }
  }
  const slotOf = ({ newer }: Gap) => newer?.transaction.slot ?? Number.POSITIVE_INFINITY
  return gaps.sort((a, b) => slotOf(b) - slotOf(a))
}

function linksOf(transaction: WalletTransaction, wallet: string): ReadonlyMap<string, Link> {
  const { lamports, tokens } = transaction
  const links = new Map<string, Link>(
    tokens.map(({ account, pre, post }) => [account, { transaction, pre, post }])
  )
  if (lamports !== undefined) links.set(wallet, { transaction, ...lamports })
  return links
}
