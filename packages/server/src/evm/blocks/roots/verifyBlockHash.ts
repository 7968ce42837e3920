import { keccak256 } from '../../../platform/keccak256.ts'
import { contradiction } from '../verification/contradiction.ts'
import type { VerifiedHeader } from '../verification/verifiedBlock.ts'
import { encodeHeader, unknownMembers } from './encodeHeader.ts'
import { toHex } from './rlpFields.ts'

/**
 * Checks that a block's hash is the hash of its header.
 * @throws {NodeContradictionError} naming both hashes, and the members of the answer that may be fields not known here.
 */
export function verifyBlockHash({ ref, raw }: VerifiedHeader): void {
  const computed = toHex(keccak256(encodeHeader(raw, `block ${ref.number}`)))
  if (computed === ref.hash) return
  const unknown = unknownMembers(raw)
  const hint = unknown.length === 0 ? '' : `; not known as fields of a header: ${unknown.join(', ')}`
  throw contradiction(ref.number, `hash is ${ref.hash}, but the hash of its header is ${computed}${hint}`)
}
