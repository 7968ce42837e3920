import { type Field, transactionFields } from '../../model/transactionFields.ts'
import { ByteReader, damaged } from './recordBytes.ts'

/*
 * One transaction as bytes, the same in every engine. Layout:
 *
 *   kind (1), hash (32), flags (varint), the fields of `transactionFields` that the flags say are there, in its order,
 *   confirmed: [length (varint), token transfers], kind 3: length (varint), internal transfers
 *
 * Kinds of confirmed records say what is known of a transaction besides its fields: 1, as older versions wrote them,
 * nothing; 2 its token transfers; 3 also what happened inside it. How transfers are written is said in `transfers.ts`.
 */
export const recordKinds = { plain: 0x01, withTransfers: 0x02, traced: 0x03, pending: 0x41 } as const

/** Confirmed, but not kind 1: tokens were transferred. */
export const transfersFlag = 128

export const hashLength = 32
const addressLength = 20

/** A row of the table with its index in it. */
interface IndexedField extends Field {
  readonly index: number
}

/** What records of one kind consist of. */
export interface Layout {
  readonly isPending: boolean
  /** All but the hash, which stands before the flags. */
  readonly fields: readonly IndexedField[]
  /** A bit that is not in it means damage or a newer writer. */
  readonly flags: number
  readonly knowsTransfers: boolean
  readonly knowsInternal: boolean
}

/** All but the hash, which is the first row of the table. */
const others: readonly IndexedField[] = transactionFields
  .map((field, index) => ({ ...field, index }))
  .slice(1)

function layoutOf(kind: number): Layout {
  const isPending = kind === recordKinds.pending
  const form = isPending ? 'pending' : 'confirmed'
  const fields = others.filter(field => field.in === 'both' || field.in === form)
  const knowsTransfers = kind === recordKinds.withTransfers || kind === recordKinds.traced
  const flags = fields.reduce((all, { flag }) => all | flag, knowsTransfers ? transfersFlag : 0)
  return { isPending, fields, flags, knowsTransfers, knowsInternal: kind === recordKinds.traced }
}

const layouts: ReadonlyMap<number, Layout> = new Map(
  Object.values(recordKinds).map(kind => [kind, layoutOf(kind)])
)

/** @throws {StoreError} the record is of a kind that this program does not read. */
export function findLayout(kind: number): Layout {
  const layout = layouts.get(kind)
  if (layout === undefined) throw damaged(`its kind ${kind} is unknown to this version`)
  return layout
}

/** The index of a field in the table, for `RecordParts.at`. */
export function fieldIndex(name: Field['name']): number {
  return transactionFields.findIndex(field => field.name === name)
}

/**
 * Where the parts of one record stand among the bytes, so that they are read or written out without making values of the
 * others. One object serves any number of records, one after the other: `locate` fills it.
 */
export class RecordParts {
  readonly #offsets = new Int32Array(transactionFields.length)
  readonly #reader = new ByteReader()
  layout: Layout = layoutOf(recordKinds.plain)
  /** Flags of the record. */
  present = 0
  /** Offset of the first transfer, and the bytes of all; 0 bytes: there are none. */
  transfers = 0
  transfersLength = 0
  /** The same for internal transfers. */
  internal = 0
  internalLength = 0

  /** Offset of a field, by its index in the table; -1: the record does not have it. */
  at(index: number): number {
    return this.#offsets[index] ?? -1
  }

  has({ flag }: Field): boolean {
    return (this.present & flag) === flag
  }

  /**
   * Finds the parts of the record that begins at `start`.
   * @returns where it ends.
   * @throws {StoreError} the bytes are damaged, or written by a newer version.
   */
  locate(bytes: Uint8Array, start: number): number {
    const reader = this.#reader
    reader.begin(bytes, start, bytes.length)
    const layout = findLayout(reader.byte())
    const { fields, flags } = layout
    const offsets = this.#offsets
    offsets[0] = reader.skip(hashLength)
    const present = reader.varint()
    if (present > flags || (present & ~flags) !== 0) throw damaged('it has unknown flags')
    for (let i = 0; i < fields.length; i++) {
      const field = fields[i]
      if (field === undefined) break
      offsets[field.index] = (present & field.flag) === field.flag ? skipField(reader, field.codec) : -1
    }
    this.layout = layout
    this.present = present
    this.transfersLength = layout.knowsTransfers && present & transfersFlag ? reader.varint() : 0
    this.transfers = reader.skip(this.transfersLength)
    this.internalLength = layout.knowsInternal ? reader.varint() : 0
    this.internal = reader.skip(this.internalLength)
    return reader.at
  }
}

function skipField(reader: ByteReader, codec: Field['codec']): number {
  const start = reader.at
  switch (codec) {
    case 'hash':
      return reader.skip(hashLength)
    case 'address':
      return reader.skip(addressLength)
    case 'count':
      reader.varint()
      return start
    case 'integer':
    case 'fee':
      return reader.integer()
    case 'data':
    case 'accessList':
      return reader.packed()
    case 'hashes':
      reader.skip(reader.varint() * hashLength)
      return start
    case 'failed':
    case 'position':
      return start
  }
}
