import type { BlockRef, Hash, IndexedBlock, IndexedTransaction } from '../model/evm.ts'
import { StoreError } from '../platform/errors.ts'
import { encodeExtra, type ListedRows } from './extra.ts'
import { addressLength } from './RecordParts.ts'
import { RecordRows, type RowRoles, roles } from './RecordRows.ts'
import { writeConfirmed } from './record.ts'
import { ByteWriter } from './recordBytes.ts'
import { writeToken } from './tokenKey.ts'
import { maxTransactionsPerBlock, toTransactionId } from './transactionId.ts'

/** A block without its transactions. */
export interface BlockHeader {
  readonly ref: BlockRef
  readonly parentHash: Hash
  readonly timestampSeconds: number
  readonly transactionCount: number
  /** The block was traced: records, parties and events include what happened inside its transactions. */
  readonly isTraced: boolean
  /** The block was held against its header, as far as the encoding of its chain is known. */
  readonly hasVerifiedRoots: boolean
  /** A part of it is unknown: receipts, or its transactions. */
  readonly hasUnknown: boolean
}

/** Consecutive blocks as they are stored, besides their headers. Their rows follow from this (`deriveRows`). */
export interface StoredBlocks<Memory extends ArrayBufferLike = ArrayBufferLike> {
  /** Transaction id (`toTransactionId`) of each transaction, ascending. */
  readonly ids: Float64Array<Memory>
  /** The records, concatenated in the order of `ids`, as `writeConfirmed` writes them, with room for their checksums. */
  readonly records: Uint8Array<Memory>
  /** Where each record ends. */
  readonly recordEnds: Uint32Array<Memory>
  /** What the records lack of the rows: the extra bytes of the blocks (`encodeExtra`), concatenated. */
  readonly extras: Uint8Array<Memory>
  /** Where the extra bytes of each block end. */
  readonly extraEnds: Uint32Array<Memory>
}

/** One verified block in its stored form. */
export interface BlockRows extends BlockHeader, StoredBlocks {
  /** As in `IndexedBlock`; not stored. */
  readonly hasUncheckedAuthorities: boolean
}

/**
 * @throws {StoreError} the block holds more than 65,536 transactions, contradicts itself (numbers, order of indexes), or has
 *   a value that has no room in the format.
 */
export function encodeBlock(block: IndexedBlock): BlockRows {
  const { ref, parentHash, timestampSeconds, transactions, events = [] } = block
  checkTransactions(block)
  const count = transactions.length
  const writer = new ByteWriter(320 * count)
  const ids = new Float64Array(count)
  const recordEnds = new Uint32Array(count)
  for (const [row, { transaction, transfers = [], internal, operations = [] }] of transactions.entries()) {
    ids[row] = toTransactionId(transaction)
    const details = { transfers, operations }
    writeConfirmed(writer, transaction, internal === undefined ? details : { ...details, internal })
    recordEnds[row] = writer.length
  }
  const records = writer.finish()
  const extras = encodeExtra(events, listRows(transactions, records))
  return {
    ref,
    parentHash,
    timestampSeconds,
    transactionCount: count,
    isTraced: block.isTraced ?? false,
    hasVerifiedRoots: block.hasVerifiedRoots ?? false,
    hasUnknown: block.unknown !== undefined,
    ...{ ids, records, recordEnds, extras, extraEnds: Uint32Array.of(extras.length) },
    hasUncheckedAuthorities: block.hasUncheckedAuthorities ?? false
  }
}

/** Lists the parties and candidates that do not follow from the records of their transactions. */
function listRows(transactions: readonly IndexedTransaction[], records: Buffer): readonly ListedRows[] {
  const derived = new RecordRows()
  const writer = new ByteWriter(128)
  const listed: ListedRows[] = []
  let at = 0
  for (const { transaction, parties, candidates } of transactions) {
    at = derived.read(records, at)
    const partyRows = parties.map(party => {
      writer.fixed(party, addressLength)
      return writer.takeLatin1()
    })
    const candidateRows = candidates.map(candidate => {
      writer.fixed(candidate.owner, addressLength)
      writeToken(writer, candidate)
      return writer.takeLatin1()
    })
    const otherParties = unlessDerived(partyRows, derived.parties, roles.signed)
    const otherCandidates = unlessDerived(candidateRows, derived.candidates, roles.tokenIn)
    if (otherParties === undefined && otherCandidates === undefined) continue
    listed.push({
      index: transaction.index,
      ...(otherParties && { parties: otherParties }),
      ...(otherCandidates && { candidates: otherCandidates })
    })
  }
  return listed
}

/**
 * @param role - of rows that the record does not name.
 * @returns the rows with their roles; `undefined` where they are those of the record.
 */
function unlessDerived(rows: readonly string[], derived: RowRoles, role: number): RowRoles | undefined {
  const found = new Map(rows.map(row => [row, derived.get(row) ?? role]))
  const isDerived = found.size === derived.size && rows.every(row => derived.has(row))
  return isDerived ? undefined : found
}

function checkTransactions({ ref, transactions }: IndexedBlock): void {
  if (transactions.length > maxTransactionsPerBlock) {
    throw new StoreError(
      `block ${ref.number} has ${transactions.length} transactions; the store holds at most ${maxTransactionsPerBlock} a block`,
      { blockNumber: ref.number, transactions: transactions.length }
    )
  }
  let previous = -1
  for (const { transaction } of transactions) {
    toTransactionId(transaction)
    if (transaction.blockNumber !== ref.number || transaction.index <= previous) {
      throw new StoreError(
        `transaction ${transaction.hash} (block ${transaction.blockNumber}, index ${transaction.index}) is out of place in block ${ref.number} after index ${previous}`,
        { blockNumber: ref.number, hash: transaction.hash, index: transaction.index }
      )
    }
    previous = transaction.index
  }
}
