import { shapes } from '../../../index/record/encodeDetails.ts'
import { hashBytes } from '../../../index/record/hexBytes.ts'
import type { TokenStandard } from '../../../model/evm.ts'
import {
  consecutiveTransferTopic,
  depositTopic,
  transferBatchTopic,
  transferSingleTopic,
  transferTopic,
  withdrawalTopic
} from '../transfers.ts'
import { AddressRows } from './AddressRows.ts'
import { CandidateRows } from './CandidateRows.ts'
import { sameBytes } from './decodeHex.ts'
import { type MovedWords, type Place, TransferBytes } from './TransferBytes.ts'

/** Bytes of one ABI word. */
export const word = 32
/** An address takes the lower 20 bytes of a word. */
const addressInWord = 12

/** One log, its parts read into bytes. */
export interface LogBytes {
  /** 20 bytes. */
  readonly contract: Uint8Array
  /** One word for each topic. */
  readonly topics: Uint8Array
  topicCount: number
  data: Uint8Array
  dataLength: number
}

const events = {
  transfer: hashBytes(transferTopic),
  transferSingle: hashBytes(transferSingleTopic),
  transferBatch: hashBytes(transferBatchTopic),
  consecutiveTransfer: hashBytes(consecutiveTransferTopic),
  deposit: hashBytes(depositTopic),
  withdrawal: hashBytes(withdrawalTopic)
}
const knownEvents = Object.values(events)

/** Whether the first topic is that of an event that is read here. */
export function isReadEvent({ topics, topicCount }: LogBytes): boolean {
  return topicCount > 0 && knownEvents.some(known => sameBytes(known, 0, topics, 0, word))
}

const zeroAddress: Place = { bytes: new Uint8Array(20), at: 0 }

/** What the logs of transactions tell about tokens and who may hold them: `readTransfers` from bytes to bytes. */
export class TransferRows {
  readonly parties = new AddressRows()
  readonly candidates = new CandidateRows()
  /** The transfers of the transaction that was begun last. */
  readonly bytes = new TransferBytes()
  /** Logs that carry a transfer's first topic but not the shape of a transfer. */
  ignored = 0

  reset(): void {
    this.parties.reset()
    this.candidates.reset()
    this.ignored = 0
  }

  beginTransaction(): void {
    this.parties.beginTransaction()
    this.candidates.beginTransaction()
  }

  /** @param log - of an event that is read here. */
  read(log: LogBytes): void {
    if (isEvent(log, events.deposit)) this.#readWrapper(log, true)
    else if (isEvent(log, events.withdrawal)) this.#readWrapper(log, false)
    else if (!this.#readTransfer(log)) this.ignored++
  }

  #readWrapper({ contract, topics, topicCount, data, dataLength }: LogBytes, isDeposit: boolean): void {
    if (topicCount !== 2 || dataLength !== word || !isAddress(topics, word)) return
    const owner = { bytes: topics, at: word + addressInWord }
    this.candidates.add(topics, owner.at, contract, 'erc20', [])
    const [from, to] = isDeposit ? [zeroAddress, owner] : [owner, zeroAddress]
    this.bytes.add(shapes.wrapping, { bytes: contract, at: 0 }, from, to, { amount: { bytes: data, at: 0 } })
  }

  /** @returns false for a log that has not the shape of a transfer. */
  #readTransfer(log: LogBytes): boolean {
    const { topics, topicCount, data, dataLength } = log
    const topic = (place: number): Place => ({ bytes: topics, at: place * word })
    const inData = (place: number): Place => ({ bytes: data, at: place * word })
    if (isEvent(log, events.transfer)) {
      if (topicCount === 3 && dataLength === word) {
        return this.#add(log, topic(1), topic(2), shapes.erc20, [{ amount: inData(0) }])
      }
      if (topicCount === 4 && dataLength === 0) {
        return this.#add(log, topic(1), topic(2), shapes.erc721, [{ tokenId: topic(3) }])
      }
      const isOld = topicCount === 1 && dataLength === 3 * word
      return isOld && this.#add(log, inData(0), inData(1), shapes.erc721, [{ tokenId: inData(2) }])
    }
    if (topicCount !== 4) return false
    if (isEvent(log, events.consecutiveTransfer)) {
      const range = readRange(topic(1), log)
      if (range === undefined) return false
      const shape = range.lastTokenId === undefined ? shapes.erc721 : shapes.erc721Range
      return this.#add(log, topic(2), topic(3), shape, [range])
    }
    const tokens = isEvent(log, events.transferSingle) ? readSingle(log) : readBatch(log)
    return tokens !== undefined && this.#add(log, topic(2), topic(3), shapes.erc1155, tokens)
  }

  #add(
    { contract }: LogBytes,
    fromWord: Place,
    toWord: Place,
    shape: number,
    tokens: readonly MovedWords[]
  ): boolean {
    if (!isAddress(fromWord.bytes, fromWord.at) || !isAddress(toWord.bytes, toWord.at)) return false
    const from = { bytes: fromWord.bytes, at: fromWord.at + addressInWord }
    const to = { bytes: toWord.bytes, at: toWord.at + addressInWord }
    this.parties.add(from.bytes, from.at)
    this.parties.add(to.bytes, to.at)
    const standard = standardOf(shape)
    if (standard !== 'erc721' && !isZero(from.bytes, from.at, word - addressInWord)) {
      for (const token of tokens) {
        this.candidates.add(from.bytes, from.at, contract, standard, idsOf(token))
      }
    }
    const emitter = { bytes: contract, at: 0 }
    for (const token of tokens) {
      this.candidates.add(to.bytes, to.at, contract, standard, idsOf(token))
      this.bytes.add(shape, emitter, from, to, token)
    }
    return true
  }
}

function standardOf(shape: number): TokenStandard {
  if (shape === shapes.erc20) return 'erc20'
  return shape === shapes.erc1155 ? 'erc1155' : 'erc721'
}

const noIds: readonly Place[] = []

function idsOf({ tokenId, lastTokenId }: MovedWords): readonly Place[] {
  if (tokenId === undefined) return noIds
  return lastTokenId === undefined ? [tokenId] : [tokenId, lastTokenId]
}

function isEvent({ topics }: LogBytes, signature: Uint8Array): boolean {
  return sameBytes(signature, 0, topics, 0, word)
}

function isAddress(bytes: Uint8Array, at: number): boolean {
  return isZero(bytes, at, addressInWord)
}

function isZero(bytes: Uint8Array, at: number, count: number): boolean {
  for (let i = 0; i < count; i++) if (bytes[at + i] !== 0) return false
  return true
}

/** Both ends belong to the range; a range of one id is that id. */
function readRange(first: Place, { data, dataLength }: LogBytes): MovedWords | undefined {
  if (dataLength !== word) return undefined
  const last = { bytes: data, at: 0 }
  const order = Buffer.compare(
    first.bytes.subarray(first.at, first.at + word),
    last.bytes.subarray(last.at, last.at + word)
  )
  if (order > 0) return undefined
  return order === 0 ? { tokenId: first } : { tokenId: first, lastTokenId: last }
}

function readSingle({ data, dataLength }: LogBytes): readonly MovedWords[] | undefined {
  if (dataLength !== 2 * word) return undefined
  return [{ tokenId: { bytes: data, at: 0 }, amount: { bytes: data, at: word } }]
}

/** `(uint256[] ids, uint256[] values)`: both lists lie inside the data and are equally long. */
function readBatch(log: LogBytes): readonly MovedWords[] | undefined {
  const ids = listAt(log, 0)
  const values = listAt(log, word)
  if (ids === undefined || values === undefined || ids.length !== values.length) return undefined
  return Array.from({ length: ids.length }, (_, i) => ({
    tokenId: { bytes: log.data, at: ids.start + i * word },
    amount: { bytes: log.data, at: values.start + i * word }
  }))
}

/** Finds the list whose offset stands at `place`. */
function listAt(
  log: LogBytes,
  place: number
): { readonly start: number; readonly length: number } | undefined {
  const offset = sizeAt(log, place)
  // The first two words are the offsets themselves.
  if (offset === undefined || offset < 2 * word) return undefined
  const length = sizeAt(log, offset)
  if (length === undefined) return undefined
  const start = offset + word
  return length <= (log.dataLength - start) / word ? { start, length } : undefined
}

/** The word at `place` if it can be a size inside the data. */
function sizeAt({ data, dataLength }: LogBytes, place: number): number | undefined {
  if (place + word > dataLength || !isZero(data, place, word - 6)) return undefined
  const size = Buffer.from(data.buffer, data.byteOffset + place, word).readUIntBE(word - 6, 6)
  return size <= 2 * dataLength ? size : undefined
}
