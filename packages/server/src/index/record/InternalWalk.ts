import type { InternalTransfer } from '../../model/evm.ts'
import type { ConfirmedParts } from './ConfirmedParts.ts'
import { internalKinds } from './encodeDetails.ts'
import { NamedAddresses } from './namedAddresses.ts'
import { PlaceReader } from './PlaceReader.ts'
import { damaged } from './recordBytes.ts'

/** Goes over the internal transfers of a record as `TransferWalk` goes over its token transfers. */
export class InternalWalk {
  kind: InternalTransfer['kind'] = 'call'
  /** Places in `addresses`, 20 bytes each. */
  from = 0
  to = 0
  /** Place in the record of an integer. */
  value = -1
  readonly #names = new NamedAddresses()
  readonly #reader = new PlaceReader()
  #record: Uint8Array = new Uint8Array()

  /** @param parts - has located the record last. */
  begin(bytes: Uint8Array, parts: ConfirmedParts): void {
    this.#record = bytes
    this.#reader.begin(bytes, parts.internal, parts.internal + parts.internalLength)
    if (parts.internalLength > 0) this.#names.begin(bytes, parts)
  }

  get addresses(): Uint8Array {
    return this.#names.bytes
  }

  /** Goes to the next transfer. @returns false: there is none. @throws {StoreError} the bytes are damaged. */
  next(): boolean {
    const reader = this.#reader
    if (reader.atEnd) return false
    const kind = internalKinds[reader.byte()]
    if (kind === undefined) throw damaged('it has an unknown kind of internal transfer')
    this.kind = kind
    this.from = this.#names.read(reader, this.#record)
    this.to = this.#names.read(reader, this.#record)
    this.value = reader.integer()
    return true
  }
}
