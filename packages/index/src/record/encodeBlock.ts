import type { AccountEvents, BlockRef, Hash, IndexedBlock } from '../model/evm.ts'
import { StoreError } from '../platform/errors.ts'
import { encodeAccountEvents } from './accountEvents.ts'
import { encodeRows } from './encodeRows.ts'
import { encodeExtra } from './extra.ts'
import { addressBytes } from './hexBytes.ts'
import { writeConfirmed } from './record.ts'
import { ByteWriter } from './recordBytes.ts'
import { maxTransactionsPerBlock, toTransactionId } from './transactionId.ts'

export const hashLength = 32
export const addressLength = 20

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

/** One verified block in its stored form. */
export interface BlockRows extends BlockHeader {
  /** Index in the block of each transaction, ascending. */
  readonly indexes: Uint16Array
  /** 32 bytes for each transaction. */
  readonly hashes: Uint8Array
  /** The records, concatenated, as `writeConfirmed` writes them, with room for their checksums. */
  readonly records: Uint8Array
  /** Where each record ends. */
  readonly recordEnds: Uint32Array
  /** 20 bytes for each party, in the order of the transactions; each party once in a transaction. */
  readonly parties: Uint8Array
  /** Number of parties up to and including each transaction. */
  readonly partyEnds: Uint32Array
  /** Roles of each party in its transaction: bits of `roles`. */
  readonly partyRoles: Uint8Array
  /**
   * For each candidate: owner (20 bytes), contract (20), standard (1), length of the key (1), `tokenIdsKey`; each candidate once
   * in a transaction.
   */
  readonly candidates: Uint8Array
  /** Transaction id of each candidate. */
  readonly candidateIds: Float64Array
  /** Roles of each candidate's owner: the token was moved to it, from it, or both. */
  readonly candidateRoles: Uint8Array
  /** 20 bytes for each account with events in this block; each once. */
  readonly eventAddresses: Uint8Array
  /** The events of these accounts, concatenated, as `encodeAccountEvents` writes them. */
  readonly events: Uint8Array
  /** Where the events of each account end. */
  readonly eventEnds: Uint32Array
  /** What the records lack of the rows, as `encodeExtra` writes it. */
  readonly extra: Uint8Array
  /** As in `IndexedBlock`; not stored. */
  readonly hasUncheckedAuthorities: boolean
}

/**
 * @throws {StoreError} the block holds more than 65,536 transactions, contradicts itself (numbers, order of indexes), or has
 *   a value that has no room in the format.
 */
export function encodeBlock(block: IndexedBlock): BlockRows {
  const { ref, parentHash, timestampSeconds, transactions } = block
  checkTransactions(block)
  const count = transactions.length
  const records = new ByteWriter(320 * count)
  const hashes = new ByteWriter(hashLength * count)
  const indexes = new Uint16Array(count)
  const recordEnds = new Uint32Array(count)
  for (const [row, { transaction, transfers = [], internal, operations = [] }] of transactions.entries()) {
    indexes[row] = transaction.index
    hashes.fixed(transaction.hash, hashLength)
    const details = { transfers, operations }
    writeConfirmed(records, transaction, internal === undefined ? details : { ...details, internal })
    recordEnds[row] = records.length
  }
  const events = block.events ?? []
  const { listed, ...rows } = encodeRows(transactions, records.finish())
  return {
    ref,
    parentHash,
    timestampSeconds,
    transactionCount: count,
    isTraced: block.isTraced ?? false,
    hasVerifiedRoots: block.hasVerifiedRoots ?? false,
    hasUnknown: block.unknown !== undefined,
    indexes,
    hashes: hashes.finish(),
    records: records.finish(),
    recordEnds,
    ...rows,
    ...encodeEvents(events),
    extra: encodeExtra(events, listed),
    hasUncheckedAuthorities: block.hasUncheckedAuthorities ?? false
  }
}

/** Encodes the rows of account events. */
function encodeEvents(
  accounts: readonly AccountEvents[]
): Pick<BlockRows, 'eventAddresses' | 'events' | 'eventEnds'> {
  const parts = accounts.map(({ events }) => encodeAccountEvents(events))
  let end = 0
  return {
    eventAddresses: Buffer.concat(accounts.map(({ address }) => addressBytes(address))),
    events: Buffer.concat(parts),
    eventEnds: Uint32Array.from(parts, ({ length }) => {
      end += length
      return end
    })
  }
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
