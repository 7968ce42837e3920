import { NodeContradictionError } from '../../platform/errors.ts'
import { AccountRefusal } from './borshReader.ts'
import type { AtSlot, SolanaCallOptions, SolanaRpc } from './rpc.ts'
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from './solanaAddress.ts'
import { readTokenAccount, type TokenAccount } from './tokenAccount.ts'

/** A token account with a balance. */
export interface OwnedTokenAccount extends TokenAccount {
  readonly address: string
  /** The token program it belongs to. */
  readonly programId: string
}

export interface TokenAccountsOfOwner {
  /** Ordered by mint, then by address. */
  readonly accounts: readonly OwnedTokenAccount[]
  /** Token accounts whose bytes were refused: their balance is unknown. */
  readonly refused: readonly string[]
}

/**
 * Token accounts of an owner under both token programs; empty ones are left out, frozen ones are not.
 *
 * Asks for base64 rather than `jsonParsed`: exact u64 and one reader for every node version, at half the bytes.
 *
 * @returns `slot` is the newer of the two answers'.
 * @throws whatever {@link SolanaRpc} throws, also when one of the two queries fails: half a list would look whole.
 * @throws {NodeContradictionError} an account of somebody else, or one account twice.
 * @remarks Two calls, whatever the number of accounts.
 */
export async function readTokenAccounts(
  rpc: SolanaRpc,
  owner: string,
  options: SolanaCallOptions
): Promise<AtSlot<TokenAccountsOfOwner>> {
  const programs = [TOKEN_PROGRAM, TOKEN_2022_PROGRAM]
  const answers = await Promise.all(
    programs.map(async programId => ({
      programId,
      ...(await rpc.getTokenAccountsByOwner(owner, programId, options))
    }))
  )
  const accounts: OwnedTokenAccount[] = []
  const refused: string[] = []
  const seen = new Set<string>()
  for (const { programId, value } of answers) {
    for (const raw of value) {
      if (seen.has(raw.address)) throw new NodeContradictionError(`token account ${raw.address} came twice`)
      seen.add(raw.address)
      try {
        const account = readTokenAccount(raw, programId)
        if (account.owner !== owner) {
          throw new NodeContradictionError(
            `token account ${raw.address} has another owner than was asked for`
          )
        }
        if (account.amount > 0n) accounts.push({ address: raw.address, programId, ...account })
      } catch (error) {
        if (!(error instanceof AccountRefusal)) throw error
        refused.push(raw.address)
      }
    }
  }
  accounts.sort((a, b) => compareText(a.mint, b.mint) || compareText(a.address, b.address))
  return { slot: Math.max(...answers.map(answer => answer.slot)), value: { accounts, refused } }
}

/** By code unit: the same order on every machine. */
function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
