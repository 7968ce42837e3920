import { readAuthorizations } from '../../src/evm/blocks/authorizations.ts'
import { type NormalizedBlock, normalizeBlock } from '../../src/evm/blocks/normalize.ts'
import { loadRecoverSender } from '../../src/evm/blocks/roots/recoverSender.ts'
import type { VerifiedBlock } from '../../src/evm/blocks/verification/verifiedBlock.ts'

const recover = await loadRecoverSender()

/** Normalizes a block where no node tells the nonces of its authorities. */
export function normalizeAlone(verified: VerifiedBlock): NormalizedBlock {
  return normalizeBlock(verified, { signed: readAuthorizations(verified.transactions, recover) })
}
