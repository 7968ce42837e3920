import { createCountedTurns } from '../../nodes/solana/createCountedTurns.ts'
import type { AtSlot, SolanaCallOptions, SolanaRpc } from '../../nodes/solana/rpc.ts'
import { AccountRefusal } from '../accounts/borshReader.ts'
import { readTokenAccount, type TokenAccount } from '../accounts/tokenAccount.ts'

/** Accounts read before other work gets a turn: some 1 ms. */
const ACCOUNTS_PER_TURN = 100

/** A token account with a balance. */
export interface OwnedTokenAccount extends TokenAccount {
  readonly address: string
  /** The token program it belongs to. */
  readonly programId: string
}

export interface TokenAccountsOfOwner {
  /** In the node's order, which means nothing. */
  readonly accounts: readonly OwnedTokenAccount[]
  /** Token accounts whose bytes were refused: their balance is unknown. */
  readonly refused: readonly string[]
}

/**
 * Token accounts of an owner under one token program; empty ones are left out, frozen ones are not.
 *
 * Asks for base64 rather than `jsonParsed`: exact u64 and one reader for every node version, at half the bytes.
 *
 * @throws whatever {@link SolanaRpc} throws.
 * @remarks One call, whatever the number of accounts.
 */
export async function readTokenAccounts(
  rpc: SolanaRpc,
  owner: string,
  programId: string,
  options: SolanaCallOptions
): Promise<AtSlot<TokenAccountsOfOwner>> {
  const { slot, value } = await rpc.getTokenAccountsByOwner(owner, programId, options)
  const accounts: OwnedTokenAccount[] = []
  const refused: string[] = []
  const turns = createCountedTurns(ACCOUNTS_PER_TURN)
  for (const raw of value) {
    const pause = turns.step()
    if (pause !== undefined) await pause
    try {
      const account = readTokenAccount(raw, programId)
      if (account.amount > 0n) accounts.push({ address: raw.address, programId, ...account })
    } catch (error) {
      if (!(error instanceof AccountRefusal)) throw error
      refused.push(raw.address)
    }
  }
  return { slot, value: { accounts, refused } }
}
