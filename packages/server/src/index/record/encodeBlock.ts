import type {
  AccountEvents,
  BlockRef,
  Hash,
  HoldingCandidate,
  IndexedBlock,
  IndexedTransaction
} from '../../model/evm.ts'
import { StoreError } from '../../platform/errors.ts'
import { encodeAccountEvents } from './accountEvents.ts'
import { addressBytes } from './hexBytes.ts'
import { writeConfirmed } from './record.ts'
import { ByteWriter } from './recordBytes.ts'
import { standardNumber, tokenIdsKey } from './tokenKey.ts'
import { maxTransactionsPerBlock, toTransactionId } from './transactionId.ts'

export const hashLength = 32
export const addressLength = 20
/** Owner, contract, standard and length of the key: what every entry of a candidate begins with. */
export const candidateHeadLength = 2 * addressLength + 2

/** What is known of a block besides its transactions. */
export interface BlockHeader {
  readonly ref: BlockRef
  readonly parentHash: Hash
  readonly timestampSeconds: number
  readonly transactionCount: number
  /** What happened inside its transactions is known: records, parties and events hold it. */
  readonly isTraced: boolean
}

/** One verified block in the form in which it is stored. Who hands it on need not look into it. */
export interface BlockRows extends BlockHeader {
  /** Place in the block of each transaction, ascending. */
  readonly indexes: Uint16Array
  /** 32 bytes for each transaction. */
  readonly hashes: Uint8Array
  /** One record after the other, as `writeConfirmed` writes them. */
  readonly records: Uint8Array
  /** Where each record ends. */
  readonly recordEnds: Uint32Array
  /** 20 bytes for each address associated with a transaction, transaction after transaction, each once in a transaction. */
  readonly parties: Uint8Array
  /** How many parties there are up to and with each transaction. */
  readonly partyEnds: Uint32Array
  /** Owner (20 bytes), contract (20), standard (1), length of the key (1), `tokenIdsKey`, again and again. */
  readonly candidates: Uint8Array
  /** 20 bytes for each account that the block does something to besides its transactions; each once. */
  readonly eventAddresses: Uint8Array
  /** What it does to each of them, one after the other, as `encodeAccountEvents` writes it. */
  readonly events: Uint8Array
  /** Where the events of each account end. */
  readonly eventEnds: Uint32Array
}

/**
 * @throws {StoreError} the block holds more than 65,536 transactions, contradicts itself (numbers, order of indexes), or has
 *   a value that has no place in the format.
 */
export function encodeBlock(block: IndexedBlock): BlockRows {
  const { ref, parentHash, timestampSeconds, transactions } = block
  checkTransactions(block)
  const count = transactions.length
  const records = new ByteWriter(320 * count)
  const parties = new ByteWriter(4 * addressLength * count)
  const candidates = new ByteWriter(2 * candidateHeadLength * count)
  const hashes = new ByteWriter(hashLength * count)
  const indexes = new Uint16Array(count)
  const recordEnds = new Uint32Array(count)
  const partyEnds = new Uint32Array(count)
  for (let row = 0; row < count; row++) {
    const each = transactions[row] as IndexedTransaction
    const { transaction, transfers = [], internal } = each
    indexes[row] = transaction.index
    hashes.fixed(transaction.hash, hashLength)
    writeConfirmed(records, transaction, internal === undefined ? { transfers } : { transfers, internal })
    recordEnds[row] = records.length
    for (const party of each.parties) parties.fixed(party, addressLength)
    partyEnds[row] = parties.length / addressLength
    for (const candidate of each.candidates) writeCandidate(candidates, candidate)
  }
  return {
    ref,
    parentHash,
    timestampSeconds,
    transactionCount: count,
    isTraced: block.isTraced ?? false,
    indexes,
    hashes: hashes.finish(),
    records: records.finish(),
    recordEnds,
    parties: parties.finish(),
    partyEnds,
    candidates: candidates.finish(),
    ...encodeEvents(block.events ?? [])
  }
}

/** The rows of account events. */
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

function writeCandidate(writer: ByteWriter, candidate: HoldingCandidate): void {
  const { owner, contract, standard, tokenId, lastTokenId } = candidate
  const isStrange =
    (tokenId === undefined) !== (standard === 'erc20') || (lastTokenId !== undefined && standard !== 'erc721')
  if (isStrange) {
    throw new StoreError(
      `a holding candidate of ${contract} has standard ${standard} and token id ${tokenId}, last ${lastTokenId}`
    )
  }
  const key = tokenIdsKey(candidate)
  writer.fixed(owner, addressLength)
  writer.fixed(contract, addressLength)
  writer.byte(standardNumber(standard))
  writer.byte(key.length)
  writer.bytes(key)
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
