import type { Sent } from './createTransactionSender.ts'
import type { SolanaTokenAccount, SolanaTokenChange, SolanaTransaction, SolanaWorld } from './SolanaWorld.ts'

/** What a transaction is meant to do, beside paying its fee. */
export interface SolanaIntent {
  /** What it is for. */
  label?: string
  memo?: string
  /** Lamports that wallets receive, or give where negative, by name. */
  lamports?: Record<string, bigint>
  /** The same of token accounts, in base units. */
  amounts?: readonly (readonly [SolanaTokenAccount, bigint])[]
  /** Accounts that it makes; they join the world with it. */
  opens?: readonly SolanaTokenAccount[]
  closes?: readonly SolanaTokenAccount[]
  /** Accounts that get another owner, with the name of that one. */
  handsOver?: readonly (readonly [SolanaTokenAccount, string])[]
}

/** Brings the world to what the transaction was meant to do and adds it to the world's list. */
export function noteTransaction(
  world: SolanaWorld,
  sent: Sent & Pick<SolanaTransaction, 'status' | 'version' | 'feePayer'>,
  { label, memo, lamports = {}, amounts = [], opens = [], closes = [], handsOver = [] }: SolanaIntent
): SolanaTransaction {
  const named = new Set(sent.addresses)
  const wallets = Object.values(world.owners).filter(({ address }) => named.has(address))
  const before = new Map(wallets.map(wallet => [wallet.name, wallet.lamports]))
  const existing = world.tokenAccounts.filter(({ address, isClosed }) => named.has(address) && !isClosed)
  const tokens = new Map<SolanaTokenAccount, SolanaTokenChange>()
  for (const account of existing) {
    const { address, mint, owner, amount } = account
    tokens.set(account, { account: address, mint, preOwner: owner, pre: amount, post: amount })
  }
  for (const account of opens) {
    world.tokenAccounts.push(account)
    tokens.set(account, { account: account.address, mint: account.mint, pre: 0n, post: 0n })
  }

  for (const wallet of wallets) {
    wallet.lamports += lamports[wallet.name] ?? 0n
    if (wallet.address === sent.feePayer) wallet.lamports -= sent.fee
  }
  for (const [account, change] of amounts) account.amount += change
  for (const [account, owner] of handsOver) {
    account.formerOwners = [...(account.formerOwners ?? []), account.owner]
    account.owner = owner
  }
  for (const account of closes) account.isClosed = true

  for (const [account, change] of tokens) {
    change.post = account.amount
    if (account.isClosed !== true) change.postOwner = account.owner
  }
  const transaction: SolanaTransaction = {
    ...sent,
    ...(label === undefined ? {} : { label }),
    ...(memo === undefined ? {} : { memo }),
    lamports: Object.fromEntries(
      wallets.map(({ name, lamports: post }) => [name, { pre: before.get(name) ?? post, post }])
    ),
    tokens: [...tokens.values()]
  }
  world.transactions.push(transaction)
  return transaction
}
