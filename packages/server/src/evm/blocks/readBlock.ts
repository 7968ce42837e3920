import type { Hash } from '@chain-data/index'
import { type BlockRows, encodeBlock } from '@chain-data/index/record'
import { NodeContradictionError } from '../../platform/errors.ts'
import type { BlockAuthorizations } from './authorizations.ts'
import { normalizeBlock } from './normalize.ts'
import type { RootChecks } from './roots/createRootChecks.ts'
import { BlockChecks, BrokenChecksError } from './verification/blockChecks.ts'
import { isEmptyRoot, type Waivers } from './verification/contradiction.ts'
import type { VerifiedBlock, VerifiedHeader } from './verification/verifiedBlock.ts'
import { verifyHeader, verifyPlace, verifyReceipts } from './verify.ts'

/** What a block is held against besides itself. */
export interface FetchChecks {
  readonly waivers: Waivers
  /** Absent: roots and hashes are not recomputed. */
  readonly roots?: RootChecks | undefined
}

/** Turns a verified block into the result. Its NodeContradictionError counts like any other disagreement. */
export type ReadVerified<T> = (block: VerifiedBlock, authorizations?: BlockAuthorizations) => T

/** What is asked for once the header is known. */
export interface BlockParts {
  /** Its receipts, as the node sent them; not called for a block that is provably empty. */
  receipts(header: VerifiedHeader): unknown
  /** At the same time as the receipts, so that it takes no further exchange; never rejects. */
  authorizations?(header: VerifiedHeader): Promise<BlockAuthorizations>
}

/**
 * Reads an answer to `eth_getBlockByNumber` and its receipts, and verifies that they belong together. Where waivers allow it, the
 * parts that contradict the block count as unknown.
 * @throws {BrokenChecksError} the block breaks waivable checks; it lists those of header and receipts.
 * @throws {NodeContradictionError} the parts disagree.
 */
export async function readBlock<T>(
  raw: unknown,
  number: number,
  read: ReadVerified<T>,
  { waivers, roots }: FetchChecks,
  parts: BlockParts
): Promise<T> {
  let header: VerifiedHeader
  try {
    header = verifyHeader(raw, number, waivers)
  } catch (error) {
    if (error instanceof BrokenChecksError) throw error
    return read(verifyPlace(raw, number))
  }
  if (header.broken.length === 0) roots?.header(header)
  // The root proves that the block has no transactions.
  const isEmpty = header.transactions.length === 0 && isEmptyRoot(header.raw.transactionsRoot)
  const authorizations = isEmpty ? undefined : parts.authorizations?.(header)
  const receipts = isEmpty ? [] : await parts.receipts(header)
  const signed = await authorizations
  const readKnown = (block: VerifiedBlock) => {
    if (block.unknown === undefined) roots?.receipts(block)
    return read(block, signed)
  }
  const checks = new BlockChecks(number, waivers, header.broken)
  const unknown = new Set<Hash>()
  // Each round leaves more aside: one receipt, all receipts, the transactions.
  for (;;) {
    try {
      const areUnknown = unknown.size > 0 && unknown.size === header.transactions.length
      return readKnown(verifyReceipts(header, areUnknown ? [] : receipts, waivers, unknown))
    } catch (error) {
      const failure = checks.explain(error)
      if (!(failure instanceof NodeContradictionError)) throw failure
      const { receiptOf, ofRoot } = failure.context
      if (
        typeof receiptOf === 'string' &&
        !unknown.has(receiptOf as Hash) &&
        waivers.passes('unknownReceipt', number)
      ) {
        unknown.add(receiptOf as Hash)
      } else if (ofRoot || failure instanceof BrokenChecksError || !waivers.passes('unknownBlock', number)) {
        throw failure
      } else if (unknown.size < header.transactions.length) {
        for (const { hash } of header.transactions) unknown.add(hash)
      } else return read(verifyPlace(raw, number))
    }
  }
}

/** A block as it is stored. */
export interface DecodedRows {
  readonly rows: BlockRows
  /** Logs that look like transfers or operations and are none; see `readLogs`. */
  readonly ignoredLogs: number
}

/** @throws {StoreError} when one of its values cannot be stored. */
export function toRows(
  verified: VerifiedBlock,
  authorizations: BlockAuthorizations | undefined,
  hasVerifiedRoots: boolean
): DecodedRows {
  const { block, ignoredLogs } = normalizeBlock(verified, authorizations)
  const isVerified = hasVerifiedRoots && block.unknown === undefined
  return { rows: encodeBlock({ ...block, hasVerifiedRoots: isVerified }), ignoredLogs }
}
