import type { SolanaCallOptions } from '../../nodes/solana/nodes.ts'
import type { AtSlot, RawAccount } from '../../nodes/solana/readAnswers.ts'
import type { SolanaRpc } from '../../nodes/solana/rpc.ts'
import { TOKEN_2022_PROGRAM } from '../../nodes/solana/solanaAddress.ts'
import { createYielder } from '../../platform/concurrency/pause.ts'
import { AccountRefusal, BorshReader } from './borshReader.ts'

/** What SPL Token and Token-2022 both keep of one token account; amounts in base units. */
interface TokenAccount {
  readonly mint: string
  readonly owner: string
  /** u64, exact. */
  readonly amount: bigint
  /** Frozen by the mint's freeze authority; programmable NFTs always are. Still owned. */
  readonly frozen: boolean
}

const BASE_SIZE = 165
/** Sizes of a multisig: Token-2022 keeps it apart from accounts with extensions by length alone. */
const MULTISIG_SIZE = 355
const STATE_AT = 108
const ACCOUNT_TYPE_TOKEN = 2

/**
 * Reads a token account of either program. Extensions behind the common part (transfer fees held back, memo
 * required, confidential balances ...) are skipped: none of them changes the public balance.
 *
 * @param programId - the token program that must own the account.
 * @throws {AccountRefusal}
 * @see SPL Token `state::Account`, Token-2022 `extension::AccountType`
 */
export function readTokenAccount(account: RawAccount, programId: string): TokenAccount {
  if (account.owner !== programId) throw new AccountRefusal('WRONG_OWNER', `owned by ${account.owner}`)
  const { data } = account
  if (data.length < BASE_SIZE) throw new AccountRefusal('TRUNCATED', `${data.length} bytes`)
  if (data.length > BASE_SIZE) {
    const extended = programId === TOKEN_2022_PROGRAM && data.length !== MULTISIG_SIZE
    if (!extended || data[BASE_SIZE] !== ACCOUNT_TYPE_TOKEN) {
      throw new AccountRefusal('WRONG_KIND', `${data.length} bytes, account type ${data[BASE_SIZE]}`)
    }
  }
  const reader = new BorshReader(data)
  const mint = reader.address()
  const owner = reader.address()
  const amount = reader.u64()
  const state = new BorshReader(data, STATE_AT).u8()
  if (state === 0) throw new AccountRefusal('UNINITIALIZED', 'token account')
  if (state > 2) throw new AccountRefusal('MALFORMED', `token account state ${state}`)
  return { mint, owner, amount, frozen: state === 2 }
}

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
  const checkYield = createYielder()
  for (const raw of value) {
    await checkYield()
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
