import type { HoldingCandidate, TokenStandard } from '../model/evm.ts'
import { StoreError } from '../platform/errors.ts'
import { addressLength } from './RecordParts.ts'
import { ByteReader, type ByteWriter, hexAt, integerAt } from './recordBytes.ts'

/** Stored numbers of the standards; a number never changes its meaning. */
const standards: readonly TokenStandard[] = ['erc20', 'erc721', 'erc1155']
const maxTokenId = 2n ** 256n - 1n
/** Length of the head of a candidate: owner, contract, standard, length of the key. */
export const candidateHeadLength = 42

/** What an account may hold. */
type Token = Omit<HoldingCandidate, 'owner'>

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
 * Writes a token: contract (20), standard (1), length of the key of its ids (1), that key. The key sorts like the ids: an id is
 * an integer; a range is its first id, then its last, and so sorts right after the first id alone. Without an id it is empty.
 * @throws {StoreError} standard and ids do not go together, an id is not a 256-bit number, or a range does not ascend.
 */
export function writeToken(writer: ByteWriter, { contract, standard, tokenId, lastTokenId }: Token): void {
  const isStrange =
    (tokenId === undefined) !== (standard === 'erc20') ||
    (lastTokenId !== undefined &&
      (standard !== 'erc721' || tokenId === undefined || lastTokenId <= tokenId)) ||
    [tokenId, lastTokenId].some(id => id !== undefined && (id < 0n || id > maxTokenId))
  if (isStrange) {
    throw new StoreError(
      `a holding candidate of ${contract} has standard ${standard} and token id ${tokenId}, last ${lastTokenId}; expected ids of 256 bits that ascend, as the standard has them`
    )
  }
  writer.fixed(contract, addressLength)
  writer.byte(standardNumber(standard))
  writer.counted(() => {
    if (tokenId !== undefined) writer.integer(tokenId)
    if (lastTokenId !== undefined) writer.integer(lastTokenId)
  })
}

/** Reads what `writeToken` wrote. @throws {StoreError} the bytes are damaged. */
export function readToken(reader: ByteReader, bytes: Uint8Array): Token {
  const contract = hexAt(bytes, reader.skip(addressLength), addressLength)
  const standard = standardOf(reader.byte())
  const at = reader.skip(reader.byte())
  return { contract, standard, ...tokenIdsOf(bytes.subarray(at, reader.at)) }
}

/** Reads the key of token ids that `writeToken` wrote. @throws {StoreError} the bytes are no such key. */
export function tokenIdsOf(key: Uint8Array): Pick<Token, 'tokenId' | 'lastTokenId'> {
  const reader = new ByteReader(key)
  if (reader.atEnd) return {}
  const tokenId = integerAt(key, reader.integer())
  return reader.atEnd ? { tokenId } : { tokenId, lastTokenId: integerAt(key, reader.integer()) }
}
