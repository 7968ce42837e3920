import { type Field, transactionFields } from '../model/transactionFields.ts'
import { ByteReader, damaged } from './recordBytes.ts'

/*
 * The stored bytes of one transaction, the same in every engine. Layout:
 *
 *   kind (1), hash (32), flags (varint), the fields of `transactionFields` whose flags are set, in the table's order,
 *   in blocks: [length (varint), token transfers], where traced: length (varint), internal transfers,
 *   in blocks: [length (varint), operations], sum (4)
 *
 * A transaction in a block that was traced, and one whose receipt is unknown, are of kinds of their own; the latter lack what
 * only a receipt shows. `transfers.ts` and `operations.ts` describe how details are written, `recordSums.ts` the sum.
 */
export const recordKinds = {
  ...{ confirmed: 0x01, traced: 0x02, withoutReceipt: 0x03, tracedWithoutReceipt: 0x04 },
  pending: 0x41
} as const

export const sumLength = 4
/** Set in a confirmed record that has token transfers. */
export const transfersFlag = 128
/** Set in a confirmed record that has operations. */
export const operationsFlag = 1024

export const hashLength = 32
/** Offset of the hash in a record. */
export const hashOffset = 1
export const addressLength = 20

/** A row of the table with its index in the table. */
interface IndexedField extends Field {
  readonly index: number
}

/** The parts of a record of one kind. */
export interface Layout {
  readonly isPending: boolean
  /** All fields but the hash, which precedes the flags. */
  readonly fields: readonly IndexedField[]
  /** Indexes in the table of the fields of a confirmed record that this kind lacks. */
  readonly lacks: readonly number[]
  /** All known flags. Any other bit means damage. */
  readonly flags: number
  /** Internal transfers are known. */
  readonly isTraced: boolean
}

/** All fields but the hash, which is the first row of the table. */
const others: readonly IndexedField[] = transactionFields
  .map((field, index) => ({ ...field, index }))
  .slice(1)

function layoutOf(kind: number): Layout {
  const isPending = kind === recordKinds.pending
  const form = isPending ? 'pending' : 'confirmed'
  const { traced, withoutReceipt, tracedWithoutReceipt } = recordKinds
  const hasReceipt = kind !== withoutReceipt && kind !== tracedWithoutReceipt
  const ofForm = others.filter(field => field.in === 'both' || field.in === form)
  const fields = ofForm.filter(({ ofReceipt }) => hasReceipt || !ofReceipt)
  const lacks = ofForm.filter(field => !fields.includes(field)).map(({ index }) => index)
  const ofDetails = isPending || !hasReceipt ? 0 : transfersFlag | operationsFlag
  const flags = fields.reduce((joined, { flag }) => joined | flag, ofDetails)
  return { isPending, fields, lacks, flags, isTraced: kind === traced || kind === tracedWithoutReceipt }
}

const layouts: ReadonlyMap<number, Layout> = new Map(
  Object.values(recordKinds).map(kind => [kind, layoutOf(kind)])
)

/** @throws {StoreError} there is no such kind. */
export function findLayout(kind: number): Layout {
  const layout = layouts.get(kind)
  if (layout === undefined) throw damaged(`its kind ${kind} is unknown`)
  return layout
}

/** The index of a field in the table, for `RecordParts.at`. */
export function fieldIndex(name: Field['name']): number {
  return transactionFields.findIndex(field => field.name === name)
}

/**
 * Offsets of the parts of one record, so that a reader decodes only the fields it needs. `locate` fills the object; it can be
 * reused for any number of records.
 */
export class RecordParts {
  readonly #offsets = new Int32Array(transactionFields.length)
  readonly #reader = new ByteReader()
  layout: Layout = layoutOf(recordKinds.confirmed)
  /** Flags that are set in the record. */
  present = 0
  /** Offset of the first transfer, and the length of all in bytes; 0: none. */
  transfers = 0
  transfersLength = 0
  /** The same for internal transfers. */
  internal = 0
  internalLength = 0
  /** The same for operations. */
  operations = 0
  operationsLength = 0

  /** Offset of a field, by its index in the table; -1: the record lacks it. */
  at(index: number): number {
    return this.#offsets[index] ?? -1
  }

  has({ flag }: Field): boolean {
    return (this.present & flag) === flag
  }

  /**
   * Finds the parts of the record that begins at `start`.
   * @returns where it ends.
   * @throws {StoreError} the bytes are damaged.
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
    for (const index of layout.lacks) offsets[index] = -1
    this.layout = layout
    this.present = present
    // In entries of the pool these flags are those of fields.
    const detailed = layout.isPending ? 0 : present
    this.transfersLength = detailed & transfersFlag ? reader.varint() : 0
    this.transfers = reader.skip(this.transfersLength)
    this.internalLength = layout.isTraced ? reader.varint() : 0
    this.internal = reader.skip(this.internalLength)
    this.operationsLength = detailed & operationsFlag ? reader.varint() : 0
    this.operations = reader.skip(this.operationsLength)
    if (!layout.isPending) reader.skip(sumLength)
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
