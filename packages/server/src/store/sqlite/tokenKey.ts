import type { HoldingCandidate, TokenStandard } from '../../model/evm.ts'
import { StoreError } from '../../platform/errors.ts'

/** Stored numbers of the standards; a number never changes its meaning. */
const standards: readonly TokenStandard[] = ['erc20', 'erc721', 'erc1155']
const maxTokenId = 2n ** 256n - 1n

export function standardNumber(standard: TokenStandard): number {
  return standards.indexOf(standard)
}

/** @throws {StoreError} the stored number is none of ours. */
export function standardOf(number: number): TokenStandard {
  const standard = standards[number]
  if (standard === undefined) throw new StoreError(`a stored token standard is damaged: ${number}`)
  return standard
}

/**
 * Token id as key bytes that sort like the numbers: its length, then big-endian without leading zeros.
 * Empty where there is none, before all others.
 */
export function tokenIdKey(tokenId: HoldingCandidate['tokenId']): Buffer {
  if (tokenId === undefined) return Buffer.alloc(0)
  if (tokenId < 0n || tokenId > maxTokenId)
    throw new StoreError(`token id ${tokenId} is not a 256-bit number`)
  const hex = tokenId === 0n ? '' : tokenId.toString(16)
  const length = Math.ceil(hex.length / 2)
  return Buffer.from(`${length.toString(16).padStart(2, '0')}${hex.padStart(length * 2, '0')}`, 'hex')
}

/** Inverse of `tokenIdKey`. */
export function tokenIdOf(key: Uint8Array): bigint | undefined {
  if (key.length === 0) return undefined
  const digits = Buffer.from(key.subarray(1)).toString('hex')
  return digits === '' ? 0n : BigInt(`0x${digits}`)
}
