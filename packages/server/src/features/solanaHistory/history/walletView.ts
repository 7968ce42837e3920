import type { KeptToken, KeptTransaction } from './KeptTransaction.ts'

/** What the wallet held in a token account, before and after a transaction. */
interface HeldToken {
  readonly account: string
  readonly mint: string
  readonly decimals: number
  /** Owner after the transaction; before it, where the account was closed. */
  readonly owner: string
  /** "0" where the wallet did not own the account. */
  readonly pre: string
  readonly post: string
}

/** A transaction as one wallet sees it. */
export interface WalletTransaction {
  readonly transaction: KeptTransaction
  /** Absent where it does not name the wallet. */
  readonly lamports?: { readonly pre: string; readonly post: string }
  /** By address of the account. */
  readonly tokens: readonly HeldToken[]
  /** Token accounts of the wallet that it shows, with whether the wallet owns them afterwards. */
  readonly shown: ReadonlyMap<string, boolean>
}

/**
 * Looks at a transaction from a wallet.
 * @param isOwn - whether a token account is one of the wallet's, for balances of before 2021, which name no owner.
 * @returns `undefined` where it does not concern the wallet: it names a token account at a time when somebody else owned it.
 */
export function viewFromWallet(
  transaction: KeptTransaction,
  wallet: string,
  isOwn: (account: string) => boolean
): WalletTransaction | undefined {
  const named = transaction.accounts.find(([address]) => address === wallet)
  const tokens: HeldToken[] = []
  const shown = new Map<string, boolean>()
  // An account that has no balance afterwards was closed within the transaction.
  for (const [account, owner] of transaction.error === undefined ? transaction.owners : []) {
    if (owner === wallet) shown.set(account, false)
  }
  for (const token of transaction.tokens) {
    const isOwned = (balance: KeptToken['pre']) =>
      balance !== undefined &&
      (balance.owner === undefined
        ? shown.has(token.account) || isOwn(token.account)
        : balance.owner === wallet)
    const isPre = isOwned(token.pre)
    const isPost = isOwned(token.post)
    if (!isPre && !isPost) continue
    shown.set(token.account, isPost)
    tokens.push({
      ...{ account: token.account, mint: token.mint, decimals: token.decimals },
      owner: ownerOf(token) ?? wallet,
      pre: isPre ? (token.pre?.amount ?? '0') : '0',
      post: isPost ? (token.post?.amount ?? '0') : '0'
    })
  }
  if (named === undefined && tokens.length === 0 && shown.size === 0) return undefined
  return {
    transaction,
    ...(named !== undefined && { lamports: { pre: named[1], post: named[2] } }),
    tokens: tokens.sort((a, b) => (a.account < b.account ? -1 : 1)),
    shown
  }
}

function ownerOf({ pre, post }: KeptToken): string | undefined {
  return post?.owner ?? pre?.owner
}
