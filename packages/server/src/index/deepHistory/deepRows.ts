import type { DeepStretch } from '../../model/deepHistory.ts'
import type { Address, HoldingCandidate } from '../../model/evm.ts'
import { StoreError, StoreUnavailableError } from '../../platform/errors.ts'
import { addressBytes } from '../record/hexBytes.ts'
import { standardNumber, standardOf, tokenIdsKey, tokenIdsOf } from '../record/tokenKey.ts'

/** Records of one chunk at most, and of one sweep. */
export const chunkRecords = 256
export const sweptAtOnce = 2_000
/** What an account, a record and a candidate take beside their bytes, index entries included. */
const accountOverheadBytes = 200
const recordOverheadBytes = 120
const candidateOverheadBytes = 40
/** A use is written down only where the last one is older: reading must not become writing. */
export const useGrainMs = 60_000

const addressLength = 20

/** What a candidate says beside its owner, as bytes: contract (20), standard (1), key of the token ids. */
export function encodeHeld(candidate: HoldingCandidate): Buffer {
  const { contract, standard } = candidate
  return Buffer.concat([
    addressBytes(contract),
    Buffer.from([standardNumber(standard)]),
    tokenIdsKey(candidate)
  ])
}

/** @throws {StoreError} the bytes are damaged. */
export function decodeHeld(owner: Address, bytes: Uint8Array): HoldingCandidate {
  const number = bytes[addressLength]
  if (number === undefined) throw new StoreError('a stored candidate is damaged: it ends too early')
  return {
    owner,
    contract: `0x${Buffer.from(bytes.subarray(0, addressLength)).toString('hex')}`,
    standard: standardOf(number),
    ...tokenIdsOf(bytes.subarray(addressLength + 1))
  }
}

/** What a new account weighs, and by how much a stretch makes it heavier. */
export const emptyWeight = accountOverheadBytes
export function weighStretch({ records = [], candidates = [] }: DeepStretch): number {
  const recordBytes = records.reduce((sum, { bytes }) => sum + bytes.length + recordOverheadBytes, 0)
  return recordBytes + candidates.length * candidateOverheadBytes
}

/** Whoever reads cannot go on; the next call reads it from the nodes again. */
export function hasLeft(): StoreUnavailableError {
  return new StoreUnavailableError('what was kept of an account below the index has left while it was read')
}
