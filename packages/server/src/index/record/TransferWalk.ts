import type { TokenStandard } from '../../model/evm.ts'
import type { ConfirmedParts } from './ConfirmedParts.ts'
import { saidAmount, sameParties, saysTransfer, shapes } from './encodeDetails.ts'
import { NamedAddresses } from './namedAddresses.ts'
import { PlaceReader } from './PlaceReader.ts'
import { damaged } from './recordBytes.ts'

const addressLength = 20
const word = 32
/** Numbers of the sender and, where there is one, the receiver of the transaction (see `namedAddresses.ts`). */
const sender = 1
const receiver = 2

interface Shape {
  readonly standard: TokenStandard
  readonly isWrapping?: true
  readonly tokenId?: true
  readonly lastTokenId?: true
  readonly amount?: true
}

const shapeOf: ReadonlyMap<number, Shape> = new Map<number, Shape>([
  [shapes.erc20, { standard: 'erc20', amount: true }],
  [shapes.erc721, { standard: 'erc721', tokenId: true }],
  [shapes.erc721Range, { standard: 'erc721', tokenId: true, lastTokenId: true }],
  [shapes.erc1155, { standard: 'erc1155', tokenId: true, amount: true }],
  [shapes.wrapping, { standard: 'erc20', isWrapping: true, amount: true }]
])

/**
 * Goes over the token transfers of a record, one after the other, without making values of them: `begin`, then `next` until it
 * says false. One object serves any number of records.
 */
export class TransferWalk {
  standard: TokenStandard = 'erc20'
  isWrapping = false
  /** Places in `addresses`, 20 bytes each. */
  contract = 0
  from = 0
  to = 0
  /** Places in `numbers`, as `ConfirmedParts` has them of integers; -1: the transfer has none. */
  amount = -1
  tokenId = -1
  lastTokenId = -1
  numbers: Uint8Array = new Uint8Array()
  readonly #names = new NamedAddresses()
  readonly #reader = new PlaceReader()
  #record: Uint8Array = new Uint8Array()
  #dataLength = 0
  #isFirst = true
  /** What the calldata say, as an integer. */
  readonly #saidAmount = new Uint8Array(1 + word)

  /** @param parts - has located the record last. */
  begin(bytes: Uint8Array, parts: ConfirmedParts): void {
    this.#record = bytes
    this.#reader.begin(bytes, parts.transfers, parts.transfers + parts.transfersLength)
    this.#isFirst = true
    if (parts.transfersLength === 0) return
    this.#names.begin(bytes, parts)
    this.#dataLength = parts.to >= 0 ? parts.dataLength : 0
  }

  get addresses(): Uint8Array {
    return this.#names.bytes
  }

  /** Goes to the next transfer. @returns false: there is none. @throws {StoreError} the bytes are damaged. */
  next(): boolean {
    const reader = this.#reader
    if (reader.atEnd) return false
    const head = reader.byte()
    if (head === shapes.said) this.#takeSaid()
    else this.#take(head)
    this.#isFirst = false
    return true
  }

  #take(head: number): void {
    const reader = this.#reader
    const shape = shapeOf.get(head & ~sameParties)
    if (shape === undefined) throw damaged('it has an unknown kind of transfer')
    if ((head & sameParties) === 0) {
      this.contract = this.#names.read(reader, this.#record)
      this.from = this.#names.read(reader, this.#record)
      this.to = this.#names.read(reader, this.#record)
    } else if (this.#isFirst) throw damaged('its first transfer has the parties of one before')
    this.standard = shape.standard
    this.isWrapping = shape.isWrapping ?? false
    this.numbers = this.#record
    this.tokenId = shape.tokenId ? reader.integer() : -1
    this.lastTokenId = shape.lastTokenId ? reader.integer() : -1
    this.amount = shape.amount ? reader.integer() : -1
  }

  #takeSaid(): void {
    const { callHead } = this.#names
    if (!saysTransfer(callHead, this.#dataLength)) throw damaged('its calldata say no transfer')
    this.standard = 'erc20'
    this.isWrapping = false
    this.contract = receiver * addressLength
    this.from = sender * addressLength
    this.to = this.#names.firstCalled * addressLength
    this.tokenId = -1
    this.lastTokenId = -1
    let zeros = 0
    while (zeros < word && callHead[saidAmount + zeros] === 0) zeros++
    this.#saidAmount[0] = word - zeros
    this.#saidAmount.set(callHead.subarray(saidAmount + zeros, saidAmount + word), 1)
    this.numbers = this.#saidAmount
    this.amount = 0
  }
}
