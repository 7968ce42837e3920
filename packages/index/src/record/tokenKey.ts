import type { HoldingCandidate, TokenStandard } from '../model/evm.ts'
import { StoreError } from '../platform/errors.ts'

/** Stored numbers of the standards; a number never changes its meaning. */
const standards: readonly TokenStandard[] = ['erc20', 'erc721', 'erc1155']
const maxTokenId = 2n ** 256n - 1n
/** Length of the head of a candidate: owner, contract, standard, length of the key. */
export const candidateHeadLength = 42

export function standardNumber(standard: TokenStandard): number {
  return standards.indexOf(standard)
}

/** @throws {StoreError} the stored number is none of ours. */
export function standardOf(number: number): TokenStandard {
  const standard = standards[number]
  if (standard === undefined) throw new StoreError(`a stored token standard is damaged: ${number}`)
  return standard
}

/** The token ids of a candidate. */
type TokenIds = Pick<HoldingCandidate, 'tokenId' | 'lastTokenId'>

const noKey = Buffer.alloc(0)

/**
 * Encodes token ids as key bytes that sort like the numbers. An id is its length, then big-endian without leading zeros; a
 * range is its first id, then its last, and so sorts right after the first id alone. Without an id the key is empty,
 * and sorts first.
 * @throws {StoreError} an id is not a 256-bit number, or a range does not ascend.
 */
export function tokenIdsKey({ tokenId, lastTokenId }: TokenIds): Buffer {
  if (tokenId === undefined) return noKey
  if (lastTokenId === undefined) return idKey(tokenId)
  if (lastTokenId <= tokenId) throw new StoreError(`token ids ${tokenId} to ${lastTokenId} are not a range`)
  return Buffer.concat([idKey(tokenId), idKey(lastTokenId)])
}

/**
 * Inverse of `tokenIdsKey`.
 * @throws {StoreError} the bytes are no such key.
 */
export function tokenIdsOf(key: Uint8Array): TokenIds {
  const [lengthOfFirst] = key
  if (lengthOfFirst === undefined) return {}
  const end = 1 + lengthOfFirst
  const tokenId = idIn(key, 1, end)
  const lengthOfLast = key[end]
  return lengthOfLast === undefined
    ? { tokenId }
    : { tokenId, lastTokenId: idIn(key, end + 1, end + 1 + lengthOfLast) }
}

function idKey(tokenId: bigint): Buffer {
  if (tokenId < 0n || tokenId > maxTokenId)
    throw new StoreError(`token id ${tokenId} is not a 256-bit number`)
  const hex = tokenId === 0n ? '' : tokenId.toString(16)
  const length = Math.ceil(hex.length / 2)
  return Buffer.from(`${length.toString(16).padStart(2, '0')}${hex.padStart(length * 2, '0')}`, 'hex')
}

function idIn(key: Uint8Array, start: number, end: number): bigint {
  if (end > key.length) throw new StoreError('a stored token id is damaged: it ends too early')
  const digits = Buffer.from(key.subarray(start, end)).toString('hex')
  return digits === '' ? 0n : BigInt(`0x${digits}`)
}
