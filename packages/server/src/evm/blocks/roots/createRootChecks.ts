import type { RecomputedParts, RootPart } from '../../../model/rootParts.ts'
import { NodeContradictionError } from '../../../platform/errors.ts'
import type { VerifiedBlock, VerifiedHeader } from '../verification/verifiedBlock.ts'
import { loadRecoverSender } from './recoverSender.ts'
import { verifyBlockHash } from './verifyBlockHash.ts'
import { verifyReceiptsRoot } from './verifyReceiptsRoot.ts'
import {
  encodeTransactions,
  verifyHashes,
  verifySenders,
  verifyTransactionsRoot
} from './verifyTransactionsRoot.ts'
import { verifyWithdrawalsRoot } from './verifyWithdrawalsRoot.ts'

/**
 * Holds blocks against their headers. What a node altered in one answer then contradicts a hash, wherever it stands, unless
 * the node made up the block as a whole, which no other block links to. Waivers excuse nothing here; system transactions
 * that are outside of the header stay outside.
 */
export interface RootChecks {
  /** @throws {NodeContradictionError} naming the part, the hash that is stated and the one that follows from the answer. */
  header(header: VerifiedHeader): void
  /** Like {@link RootChecks.header}, for what the receipts show. */
  receipts(block: VerifiedBlock): void
}

/** Creates the checks of some parts of blocks. */
export async function createRootChecks({ parts, older }: RecomputedParts): Promise<RootChecks> {
  const partsOf = ({ ref }: Pick<VerifiedHeader, 'ref'>) => {
    const own = older !== undefined && ref.number <= older.toBlock ? older.parts : parts
    return (part: RootPart) => own.includes(part)
  }
  const recover = [...parts, ...(older?.parts ?? [])].includes('senders')
    ? await loadRecoverSender()
    : undefined
  const header = (header: VerifiedHeader) => {
    const has = partsOf(header)
    const recoverSender = has('senders') ? recover : undefined
    if (has('header')) verifyBlockHash(header)
    if (has('withdrawals')) verifyWithdrawalsRoot(header)
    if (!has('transactions') && recoverSender === undefined) return
    const encoded = encodeTransactions(header, has('transactions'))
    verifyHashes(header, encoded)
    if (has('transactions')) verifyTransactionsRoot(header, encoded)
    if (recoverSender !== undefined) verifySenders(header, encoded, recoverSender, has('transactions'))
  }
  const receipts = (block: VerifiedBlock) => {
    const has = partsOf(block)
    if (has('receipts')) verifyReceiptsRoot(block, has('transactions'))
  }
  return { header: naming(header), receipts: naming(receipts) }
}

/** Adds the setting that indexes the block all the same to each failure. */
function naming<Part>(check: (part: Part) => void): (part: Part) => void {
  return part => {
    try {
      check(part)
    } catch (error) {
      if (!(error instanceof NodeContradictionError)) throw error
      const text = `${error.message}; "verify": "basic" indexes it unverified`
      throw new NodeContradictionError(text, { ...error.context, ofRoot: true })
    }
  }
}
