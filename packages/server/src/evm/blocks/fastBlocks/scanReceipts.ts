import { addressLength, type BlockRows, hashLength } from '../../../index/record/encodeBlock.ts'
import { decline, unlessDeclined } from './decline.ts'
import { EventRows } from './EventRows.ts'
import { JsonCursor } from './JsonCursor.ts'
import { LogReader } from './LogReader.ts'
import { MemberNames } from './MemberNames.ts'
import { Members } from './Members.ts'
import { RecordBytes } from './RecordBytes.ts'
import { fixedInLog, fixedInReceipt, inBlock, inLog, inReceipt, inTransaction } from './readMembers.ts'
import type { ScannedHeader } from './scanHeader.ts'
import { TransferRows } from './TransferRows.ts'
import { createdBy, typeOf, writeRecord } from './writeRecord.ts'

/** A block in the form in which it is stored, made of bytes. */
export interface ScannedBlock {
  readonly rows: BlockRows
  /** Logs that look like transfers and are none; see `readTransfers`. */
  readonly ignoredLogs: number
}

const openList = 0x5b
/** Characters of a topic, of which each is looked at later. */
const topicText = 2 + 2 * hashLength

/**
 * Reads the receipts in the answer to `eth_getBlockReceipts` without parsing them, and writes the block's rows.
 * @param bytes - of the result alone.
 * @returns `undefined` when they are not of the plain form, or do not pass every check of `verifyReceipts` and
 *   `normalizeBlock`: then those functions have to decide.
 */
export type ScanReceipts = (header: ScannedHeader, bytes: Uint8Array) => ScannedBlock | undefined

/** @returns a reader that remembers the order in which the nodes of one chain write members. */
export function createReceiptsScan(): ScanReceipts {
  const reader = new ReceiptsReader()
  return (header, bytes) => unlessDeclined(() => reader.read(header, bytes))
}

class ReceiptsReader {
  readonly #receipts = new Members(new MemberNames(inReceipt, fixedInReceipt))
  readonly #logs = new Members(new MemberNames(inLog, fixedInLog))
  readonly #logReader = new LogReader()
  readonly #records = new RecordBytes()
  readonly #transfers = new TransferRows()
  readonly #events = new EventRows()
  #gasBefore = 0

  read(header: ScannedHeader, bytes: Uint8Array): ScannedBlock {
    const { ref, parentHash, timestampSeconds, transactions, block } = header
    const { count } = transactions
    const recordEnds = new Uint32Array(count)
    const partyEnds = new Uint32Array(count)
    this.#logReader.reset()
    this.#records.reset()
    this.#transfers.reset()
    this.#gasBefore = 0
    this.#events.beginBlock(block)
    const cursor = new JsonCursor(bytes)
    let place = 0
    cursor.readList(() => {
      if (place === count) decline()
      this.#walk(cursor)
      transactions.select(place)
      this.#readOne(header, header.indexes[place] ?? 0)
      recordEnds[place] = this.#records.length
      partyEnds[place] = this.#transfers.parties.count
      place++
    })
    if (place !== count || cursor.at !== bytes.length) decline()
    this.#logReader.expectBlockBloom(block, inBlock.logsBloom)
    const rows = {
      ...{ ref, parentHash, timestampSeconds, transactionCount: count },
      ...{ indexes: header.indexes, hashes: header.hashes, recordEnds, partyEnds },
      records: this.#records.copy(),
      parties: this.#transfers.parties.copy(),
      candidates: this.#transfers.candidates.copy(),
      ...this.#events.finish(block),
      isTraced: false
    }
    return { rows, ignoredLogs: this.#transfers.ignored }
  }

  /** Over one receipt, noting where its parts and those of its logs stand. */
  #walk(cursor: JsonCursor): void {
    const logs = this.#logs
    const readTopic = () => {
      if (!cursor.skipFixed(topicText)) decline()
    }
    const readTopics = () => cursor.readList(readTopic)
    this.#receipts.reset(cursor.bytes)
    logs.reset(cursor.bytes)
    this.#receipts.read(cursor, inReceipt.logs, () => {
      if (cursor.bytes[cursor.at] === openList)
        cursor.readList(() => logs.read(cursor, inLog.topics, readTopics))
      else cursor.expectText('null')
    })
  }

  #readOne(header: ScannedHeader, index: number): void {
    const { transactions } = header
    const receipt = this.#receipts
    this.#expectPlace(header, index)
    const gasUsed = this.#expectGas()
    const type = typeOf(transactions)
    const hasFailed = receipt.has(inReceipt.status) && receipt.number(inReceipt.status) !== 1
    const created = hasFailed ? undefined : createdBy(transactions, receipt, type)
    const { parties, bytes } = this.#transfers
    this.#transfers.beginTransaction()
    bytes.beginTransaction(transactions, receipt, created !== undefined)
    parties.addHex(transactions.bytes, transactions.fixed(inTransaction.from, addressLength))
    if (transactions.has(inTransaction.to)) {
      parties.addHex(transactions.bytes, transactions.fixed(inTransaction.to, addressLength))
    }
    if (created !== undefined) parties.addHex(receipt.bytes, created)
    this.#logReader.read(this.#logs, header, index, hasFailed ? undefined : this.#transfers)
    this.#logReader.expectReceiptBloom(receipt, inReceipt.logsBloom)
    const { timestampSeconds } = header
    const facts = { type, timestampSeconds, gasUsed, hasFailed, created, transfers: bytes.out }
    writeRecord(this.#records, transactions, receipt, facts)
    this.#events.add(transactions, receipt, facts)
  }

  /** The receipt names its transaction and block, and names no other place or party. */
  #expectPlace({ block, transactions }: ScannedHeader, index: number): void {
    const receipt = this.#receipts
    if (!receipt.has(inReceipt.transactionHash) || !receipt.has(inReceipt.blockHash)) decline()
    receipt.expectSame(inReceipt.transactionHash, transactions, inTransaction.hash)
    receipt.expectSame(inReceipt.blockHash, block, inBlock.hash)
    receipt.expectSame(inReceipt.blockNumber, block, inBlock.number)
    receipt.expectNumber(inReceipt.transactionIndex, index)
    receipt.expectSame(inReceipt.from, transactions, inTransaction.from)
    if (transactions.has(inTransaction.to)) {
      receipt.expectSame(inReceipt.to, transactions, inTransaction.to)
    } else if (transactions.start(inTransaction.to) === 0 || receipt.has(inReceipt.to)) {
      // Without the key, the receipt's receiver would be taken.
      decline()
    }
  }

  /** @returns what was used; 0 where the receipt does not say it. */
  #expectGas(): number {
    const receipt = this.#receipts
    const used = receipt.has(inReceipt.gasUsed) ? receipt.number(inReceipt.gasUsed) : undefined
    const soFar = receipt.has(inReceipt.cumulativeGasUsed)
      ? receipt.number(inReceipt.cumulativeGasUsed)
      : undefined
    if (used !== undefined && soFar !== undefined && soFar !== this.#gasBefore + used) decline()
    this.#gasBefore = soFar ?? this.#gasBefore + (used ?? 0)
    return used ?? 0
  }
}
