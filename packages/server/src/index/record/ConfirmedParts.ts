import { PlaceReader } from './PlaceReader.ts'
import { confirmedFlags, detailedFlags, detailsOf, flags, unknownKind } from './record.ts'
import { damaged, maxPackedLength, minZeroRun } from './recordBytes.ts'

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
  /** Token transfers and account events are known; false in records of older versions. */
  knowsTransfers = false
  /** Place of the first transfer, for `TransferWalk`. */
  transfers = -1
  /** Bytes of all transfers; 0: there are none. */
  transfersLength = 0
  /** What happened inside the transaction is known. */
  knowsInternal = false
  /** Place of the first internal transfer, for `InternalWalk`. */
  internal = -1
  /** Bytes of all internal transfers; 0: there are none. */
  internalLength = 0
  readonly #reader = new PlaceReader()

  /**
   * Finds the parts of the record that begins at `start`.
   * @returns where it ends.
   * @throws {StoreError} as `decodeConfirmed`.
   */
  locate(bytes: Uint8Array, start: number): number {
    const reader = this.#reader
    reader.begin(bytes, start, bytes.length)
    const kind = bytes[start] ?? -1
    const known = detailsOf(kind)
    if (known === undefined) throw unknownKind(kind)
    reader.skip(1)
    this.hash = reader.skip(hashLength)
    const present = reader.varint()
    const allowed = known.transfers ? detailedFlags : confirmedFlags
    if (present > allowed || (present & ~allowed) !== 0) throw damaged('it has unknown flags')
    this.from = reader.skip(addressLength)
    this.to = present & flags.to ? reader.skip(addressLength) : -1
    this.type = reader.varint()
    this.value = reader.integer()
    this.gasLimit = reader.integer()
    this.nonce = reader.integer()
    this.maxFeePerGas = present & flags.maxFeePerGas ? reader.integer() : -1
    this.maxPriorityFeePerGas = present & flags.maxPriorityFeePerGas ? reader.integer() : -1
    this.accessList = present & flags.accessList ? reader.at : -1
    this.accessListLength = present & flags.accessList ? reader.varint() : 0
    this.#packed(this.accessListLength)
    this.dataLength = reader.varint()
    this.data = this.#packed(this.dataLength)
    this.timestampSeconds = reader.varint()
    this.gasPrice = reader.integer()
    this.gasSpent = reader.integer()
    this.fee = present & flags.fee ? reader.integer() : -1
    this.contractAddress = present & flags.contractAddress ? reader.skip(addressLength) : -1
    this.hasFailed = (present & flags.failed) !== 0
    this.knowsTransfers = known.transfers
    this.transfersLength = present & flags.transfers ? reader.varint() : 0
    this.transfers = reader.skip(this.transfersLength)
    this.knowsInternal = known.internal
    this.internalLength = known.internal ? reader.varint() : 0
    this.internal = reader.skip(this.internalLength)
    return reader.at
  }

  #packed(total: number): number {
    if (total > maxPackedLength) throw damaged('its data are too long')
    const reader = this.#reader
    const place = reader.at
    let done = 0
    while (done < total) {
      const literal = reader.varint()
      if (literal > total - done) throw damaged('its data are longer than announced')
      reader.skip(literal)
      done += literal
      if (done === total) break
      const zeros = reader.varint()
      if (zeros < minZeroRun || zeros > total - done) throw damaged('a run of zeros has a wrong length')
      done += zeros
    }
    return place
  }
}
