import { addressLength, hashLength } from '../../../index/record/encodeBlock.ts'
import { BloomPositions } from './BloomPositions.ts'
import { BloomText, bloomDigits } from './BloomText.ts'
import { decline } from './decline.ts'
import { decodeHex } from './decodeHex.ts'
import type { Members } from './Members.ts'
import { inBlock, inLog, inTransaction } from './readMembers.ts'
import type { ScannedHeader } from './scanHeader.ts'
import { isReadEvent, type LogBytes, type TransferRows, word } from './TransferRows.ts'

/** The EVM has no instruction for more. */
const mostTopics = 4
const hashDigits = 2 * hashLength
const quote = 0x22
const comma = 0x2c
const openList = 0x5b
const closeList = 0x5d
const zero = 0x30
const lowerX = 0x78

/** Checks the logs of a block, receipt after receipt, as `verifyLogs` does, and hands transfers on. */
export class LogReader {
  readonly #positions = new BloomPositions()
  readonly #receiptBloom = new BloomText()
  readonly #blockBloom = new BloomText()
  readonly #log: LogBytes = {
    contract: new Uint8Array(addressLength),
    topics: new Uint8Array(mostTopics * word),
    topicCount: 0,
    data: new Uint8Array(1_024),
    dataLength: 0
  }
  #nextIndex = 0

  reset(): void {
    this.#receiptBloom.clear()
    this.#blockBloom.clear()
    this.#nextIndex = 0
  }

  /**
   * @param logs - of the receipt of the transaction that is selected.
   * @param index - its place in the block.
   * @param transfers - takes the transfers; absent for a transaction that failed, which has undone whatever it logged.
   */
  read(
    logs: Members,
    { block, transactions }: ScannedHeader,
    index: number,
    transfers: TransferRows | undefined
  ): void {
    this.#receiptBloom.clear()
    for (let i = 0; i < logs.count; i++) {
      logs.select(i)
      logs.expectSame(inLog.blockHash, block, inBlock.hash)
      logs.expectSame(inLog.blockNumber, block, inBlock.number)
      logs.expectSame(inLog.transactionHash, transactions, inTransaction.hash)
      logs.expectNumber(inLog.transactionIndex, index)
      logs.expectNumber(inLog.logIndex, this.#nextIndex++)
      this.#readValues(logs)
      if (transfers !== undefined && isReadEvent(this.#log)) {
        this.#readData(logs)
        transfers.read(this.#log)
      }
    }
  }

  /** Declines a bloom that is not the one of the logs read last; none is not missed. */
  expectReceiptBloom(receipt: Members, member: number): void {
    expectBloom(receipt, member, this.#receiptBloom)
  }

  /** The same for all logs of the block. */
  expectBlockBloom(block: Members, member: number): void {
    expectBloom(block, member, this.#blockBloom)
  }

  /** Address and topics, which are also what blooms are made of. */
  #readValues(logs: Members): void {
    const { bytes } = logs
    const { contract, topics } = this.#log
    decodeHex(bytes, logs.fixed(inLog.address, addressLength), addressLength, contract, 0)
    this.#addToBlooms(contract, 0, addressLength)
    let at = logs.start(inLog.topics)
    let count = 0
    if (bytes[at] !== openList) decline()
    let isMore = bytes[at + 1] !== closeList
    while (isMore) {
      if (count === mostTopics || bytes[at + 1] !== quote || bytes[at + 2] !== zero) decline()
      if (bytes[at + 3] !== lowerX || bytes[at + 4 + hashDigits] !== quote) decline()
      decodeHex(bytes, at + 4, hashLength, topics, count * word)
      this.#addToBlooms(topics, count * word, hashLength)
      count++
      at += 5 + hashDigits
      isMore = bytes[at] === comma
    }
    this.#log.topicCount = count
  }

  #addToBlooms(bytes: Uint8Array, at: number, length: number): void {
    const place = this.#positions.find(bytes, at, length)
    const { positions } = this.#positions
    for (let i = place; i < place + 3; i++) {
      const bit = positions[i] ?? 0
      this.#receiptBloom.set(bit)
      this.#blockBloom.set(bit)
    }
  }

  #readData(logs: Members): void {
    this.#log.dataLength = 0
    if (!logs.has(inLog.data)) return
    const first = logs.digits(inLog.data)
    const digits = logs.digitCount(inLog.data)
    if (digits % 2 !== 0) decline()
    const length = digits / 2
    if (length > this.#log.data.length) this.#log.data = new Uint8Array(2 * length)
    decodeHex(logs.bytes, first, length, this.#log.data, 0)
    this.#log.dataLength = length
  }
}

function expectBloom(members: Members, member: number, bloom: BloomText): void {
  if (!members.has(member)) return
  const place = members.digits(member)
  if (members.digitCount(member) !== bloomDigits || !bloom.isAt(members.bytes, place)) decline()
}
