import { confirmedFlags, confirmedVersion1, flags, unknownKind } from './record.ts'
import { damaged, maxIntegerBytes, maxPackedLength, minZeroRun } from './recordBytes.ts'

const hashLength = 32
const addressLength = 20

/**
 * Where the parts of one confirmed record stand among the bytes, for who writes them out again without making values of
 * them. One object serves any number of records, one after the other: `locate` fills it.
 *
 * Places are offsets into the bytes, and -1 where the record has no such part. At the place of an integer stands its length
 * in bytes, then its bytes, big-endian without leading zeros. At a packed place stand the runs as `ByteWriter.packed`
 * wrote them, after their whole length.
 */
export class ConfirmedParts {
  hash = -1
  from = -1
  to = -1
  type = 0
  value = -1
  gasLimit = -1
  nonce = -1
  maxFeePerGas = -1
  maxPriorityFeePerGas = -1
  /** For `readAccessListAt`. */
  accessList = -1
  /** Bytes of the access list, unpacked. */
  accessListLength = 0
  data = -1
  /** Bytes of calldata, unpacked. */
  dataLength = 0
  timestampSeconds = 0
  gasPrice = -1
  gasSpent = -1
  /** -1: the product of the two. */
  fee = -1
  contractAddress = -1
  hasFailed = false
  #bytes: Uint8Array = new Uint8Array()
  #at = 0

  /**
   * Finds the parts of the record that begins at `start`.
   * @returns where it ends.
   * @throws {StoreError} as `decodeConfirmed`.
   */
  locate(bytes: Uint8Array, start: number): number {
    this.#bytes = bytes
    this.#at = start
    const kind = bytes[this.#at++] ?? -1
    if (kind !== confirmedVersion1) throw unknownKind(kind)
    this.hash = this.#skip(hashLength)
    const present = this.#varint()
    if (present > confirmedFlags || (present & ~confirmedFlags) !== 0) throw damaged('it has unknown flags')
    this.from = this.#skip(addressLength)
    this.to = present & flags.to ? this.#skip(addressLength) : -1
    this.type = this.#varint()
    this.value = this.#integer()
    this.gasLimit = this.#integer()
    this.nonce = this.#integer()
    this.maxFeePerGas = present & flags.maxFeePerGas ? this.#integer() : -1
    this.maxPriorityFeePerGas = present & flags.maxPriorityFeePerGas ? this.#integer() : -1
    this.accessList = present & flags.accessList ? this.#at : -1
    this.accessListLength = present & flags.accessList ? this.#varint() : 0
    this.#packed(this.accessListLength)
    this.dataLength = this.#varint()
    this.data = this.#packed(this.dataLength)
    this.timestampSeconds = this.#varint()
    this.gasPrice = this.#integer()
    this.gasSpent = this.#integer()
    this.fee = present & flags.fee ? this.#integer() : -1
    this.contractAddress = present & flags.contractAddress ? this.#skip(addressLength) : -1
    this.hasFailed = (present & flags.failed) !== 0
    return this.#at
  }

  #skip(length: number): number {
    const start = this.#at
    if (length > this.#bytes.length - start) throw damaged('it ends too early')
    this.#at = start + length
    return start
  }

  #varint(): number {
    let value = 0
    for (let scale = 1; scale <= 2 ** 49; scale *= 0x80) {
      const byte = this.#bytes[this.#at++]
      if (byte === undefined) throw damaged('it ends too early')
      value += (byte & 0x7f) * scale
      if (byte >= 0x80) continue
      if (!Number.isSafeInteger(value)) break
      return value
    }
    throw damaged('a number is too long')
  }

  #integer(): number {
    const place = this.#skip(1)
    const length = this.#bytes[place] ?? 0
    if (length > maxIntegerBytes) throw damaged('an amount is too long')
    const first = this.#skip(length)
    if (length > 0 && this.#bytes[first] === 0) throw damaged('an amount starts with zeros')
    return place
  }

  #packed(total: number): number {
    if (total > maxPackedLength) throw damaged('its data are too long')
    const place = this.#at
    let done = 0
    while (done < total) {
      const literal = this.#varint()
      if (literal > total - done) throw damaged('its data are longer than announced')
      this.#skip(literal)
      done += literal
      if (done === total) break
      const zeros = this.#varint()
      if (zeros < minZeroRun || zeros > total - done) throw damaged('a run of zeros has a wrong length')
      done += zeros
    }
    return place
  }
}
