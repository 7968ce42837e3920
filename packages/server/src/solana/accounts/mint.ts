import type { RawAccount } from '../../nodes/solana/readAnswers.ts'
import { TOKEN_2022_PROGRAM } from '../../nodes/solana/solanaAddress.ts'
import { AccountRefusal, BorshReader } from './borshReader.ts'
import { ACCOUNT_TYPE_AT } from './tokenExtensions.ts'

export interface Mint {
  readonly decimals: number
  /** u64, base units. */
  readonly supply: bigint
}

const BASE_SIZE = 82
const MULTISIG_SIZE = 355
const ACCOUNT_TYPE_MINT = 1

/**
 * Reads the part of a mint that both token programs share.
 *
 * @param programId - the token program that must own the mint.
 * @throws {AccountRefusal}
 * @see SPL Token `state::Mint`, Token-2022 `extension::AccountType`
 */
export function readMint(account: RawAccount, programId: string): Mint {
  if (account.owner !== programId) throw new AccountRefusal('WRONG_OWNER', `owned by ${account.owner}`)
  const { data } = account
  if (data.length < BASE_SIZE) throw new AccountRefusal('TRUNCATED', `${data.length} bytes`)
  if (data.length > BASE_SIZE) {
    const extended = programId === TOKEN_2022_PROGRAM && data.length !== MULTISIG_SIZE
    if (!extended || data[ACCOUNT_TYPE_AT] !== ACCOUNT_TYPE_MINT) {
      throw new AccountRefusal('WRONG_KIND', `${data.length} bytes, account type ${data[ACCOUNT_TYPE_AT]}`)
    }
  }
  // Mint authority (a 4-byte option and 32 bytes) comes first.
  const reader = new BorshReader(data, 36)
  const supply = reader.u64()
  const decimals = reader.u8()
  if (!reader.bool()) throw new AccountRefusal('UNINITIALIZED', 'mint')
  return { decimals, supply }
}
