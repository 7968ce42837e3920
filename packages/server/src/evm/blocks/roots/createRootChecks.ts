import type { RootPart } from '../../../model/rootParts.ts'
import type { VerifiedBlock, VerifiedHeader } from '../verification/verifiedBlock.ts'
import { loadRecoverSender } from './recoverSender.ts'
import { verifyBlockHash } from './verifyBlockHash.ts'
import { verifyReceiptsRoot } from './verifyReceiptsRoot.ts'
import { encodeTransactions, verifySenders, verifyTransactionsRoot } from './verifyTransactionsRoot.ts'
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

/** Creates the checks of some parts of a block. */
export async function createRootChecks(parts: readonly RootPart[]): Promise<RootChecks> {
  const has = (part: RootPart) => parts.includes(part)
  const recoverSender = has('senders') ? await loadRecoverSender() : undefined
  return {
    header(header) {
      if (has('header')) verifyBlockHash(header)
      if (has('withdrawals')) verifyWithdrawalsRoot(header)
      if (!has('transactions') && recoverSender === undefined) return
      const encoded = encodeTransactions(header)
      if (has('transactions')) verifyTransactionsRoot(header, encoded)
      if (recoverSender !== undefined) verifySenders(header, encoded, recoverSender)
    },
    receipts(block) {
      if (has('receipts')) verifyReceiptsRoot(block, has('transactions'))
    }
  }
}
