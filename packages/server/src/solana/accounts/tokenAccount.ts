import type { SolanaCallOptions } from '../../nodes/solana/nodes.ts'
import type { AtSlot, RawAccount } from '../../nodes/solana/readAnswers.ts'
import type { SolanaRpc } from '../../nodes/solana/rpc.ts'
import { TOKEN_2022_PROGRAM } from '../../nodes/solana/solanaAddress.ts'
import { createYielder } from '../../platform/concurrency/pause.ts'
import { AccountRefusal, BorshReader } from './borshReader.ts'
import { ACCOUNT_TYPE_AT } from './tokenExtensions.ts'

/** The part of a token account that SPL Token and Token-2022 share; amounts in base units. */
interface TokenAccount {
  readonly mint: string
  readonly owner: string
  /** u64, exact. */
  readonly amount: bigint
  /** Frozen by the mint's freeze authority; programmable NFTs always are. Still owned. */
  readonly frozen: boolean
}

/** Both kinds of account: how long they are without extensions, and the account type that they have with them. */
const TOKEN = { baseSize: 165, type: 2 }
const MINT = { baseSize: 82, type: 1 }
/** Size of a multisig: Token-2022 keeps it apart from accounts with extensions by length alone. */
const MULTISIG_SIZE = 355
const STATE_AT = 108

/** @throws {AccountRefusal} the account is not of the program, or not of this kind. */
function requireKind({ owner, data }: RawAccount, programId: string, kind: typeof TOKEN): void {
  if (owner !== programId) throw new AccountRefusal('WRONG_OWNER', `owned by ${owner}`)
  if (data.length < kind.baseSize) throw new AccountRefusal('TRUNCATED', `${data.length} bytes`)
  if (data.length === kind.baseSize) return
  const isExtended = programId === TOKEN_2022_PROGRAM && data.length !== MULTISIG_SIZE
  const type = data[ACCOUNT_TYPE_AT]
  if (!isExtended || type !== kind.type)
    throw new AccountRefusal('WRONG_KIND', `${data.length} bytes, account type ${type}`)
}

/**
 * Reads a token account of either program. Extensions after the common part (transfer fees held back, memo
 * required, confidential balances ...) are skipped: none of them changes the public balance.
 *
 * @param programId - the token program that must own the account.
 * @throws {AccountRefusal}
 * @see SPL Token `state::Account`, Token-2022 `extension::AccountType`
 */
export function readTokenAccount(account: RawAccount, programId: string): TokenAccount {
  requireKind(account, programId, TOKEN)
  const { data } = account
  const reader = new BorshReader(data)
  const mint = reader.address()
  const owner = reader.address()
  const amount = reader.u64()
  const state = new BorshReader(data, STATE_AT).u8()
  if (state === 0) throw new AccountRefusal('UNINITIALIZED', 'token account')
  if (state > 2) throw new AccountRefusal('MALFORMED', `token account state ${state}`)
  return { mint, owner, amount, frozen: state === 2 }
}

export interface Mint {
  readonly decimals: number
  /** u64, base units. */
  readonly supply: bigint
}

/**
 * Reads the part of a mint that both token programs share.
 *
 * @param programId - the token program that must own the mint.
 * @throws {AccountRefusal}
 * @see SPL Token `state::Mint`, Token-2022 `extension::AccountType`
 */
export function readMint(account: RawAccount, programId: string): Mint {
  requireKind(account, programId, MINT)
  // Mint authority (a 4-byte option and 32 bytes) comes first.
  const reader = new BorshReader(account.data, 36)
  const supply = reader.u64()
  const decimals = reader.u8()
  if (!reader.bool()) throw new AccountRefusal('UNINITIALIZED', 'mint')
  return { decimals, supply }
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
