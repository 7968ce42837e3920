import { type BlockRows, encodeBlock } from '@chain-data/index/record'
import type { BlockAuthorizations } from './authorizations.ts'
import { normalizeBlock } from './normalize.ts'
import type { RootChecks } from './roots/createRootChecks.ts'
import { isEmptyRoot, type Waivers } from './verification/contradiction.ts'
import type { VerifiedBlock, VerifiedHeader } from './verification/verifiedBlock.ts'
import { verifyHeader, verifyReceipts } from './verify.ts'

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
 * Reads an answer to `eth_getBlockByNumber` and its receipts, and verifies that they belong together.
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
  const header = verifyHeader(raw, number, waivers)
  if (header.broken.length === 0) roots?.header(header)
  // The root proves that the block has no transactions.
  const isEmpty = header.transactions.length === 0 && isEmptyRoot(header.raw.transactionsRoot)
  const authorizations = isEmpty ? undefined : parts.authorizations?.(header)
  const block = verifyReceipts(header, isEmpty ? [] : await parts.receipts(header), waivers)
  roots?.receipts(block)
  return read(block, await authorizations)
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
  return { rows: encodeBlock({ ...block, hasVerifiedRoots }), ignoredLogs }
}
