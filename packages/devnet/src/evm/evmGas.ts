import { getBytes } from 'ethers'

/** What decides the gas of a transaction in which no code runs. */
export interface PlainGasInput {
  /** 0x-hex. */
  data: string
  accessList?: { address: string; storageKeys: string[] }[]
  /** EIP-7702 authorizations; every authority is taken to exist already. */
  authorizations?: number
}

/**
 * Gas used by a transaction to an address without code, by the rules of the Prague hard fork.
 *
 * @see EIP-2028 (calldata), EIP-2930 (access lists), EIP-7623 (calldata floor), EIP-7702 (authorizations),
 *   EIP-3529 (refunds of at most a fifth)
 */
export function plainGasUsed({ data, accessList = [], authorizations = 0 }: PlainGasInput): bigint {
  const bytes = getBytes(data)
  const zeros = bytes.filter(byte => byte === 0).length
  const tokens = zeros + (bytes.length - zeros) * 4
  const keys = accessList.reduce((sum, entry) => sum + entry.storageKeys.length, 0)
  const charged = 21_000 + tokens * 4 + accessList.length * 2400 + keys * 1900 + authorizations * 25_000
  const refund = Math.min(authorizations * 12_500, Math.floor(charged / 5))
  return BigInt(Math.max(charged - refund, 21_000 + tokens * 10))
}
