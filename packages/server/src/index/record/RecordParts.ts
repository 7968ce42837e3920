import { type Field, transactionFields } from '../../model/transactionFields.ts'
import { ByteReader, damaged } from './recordBytes.ts'

/*
 * The stored bytes of one transaction, the same in every engine. Layout:
 *
 *   kind (1), hash (32), flags (varint), the fields of `transactionFields` whose flags are set, in the table's order,
 *   confirmed: [length (varint), token transfers], kinds 3 and 5: length (varint), internal transfers,
 *   kinds 4 and 5: [length (varint), operations], [sum (4)]
 *
 * The kind of a confirmed record names the details that follow its fields. Kinds 1 to 3 were written by older versions: 1 has
 * no details, 2 the token transfers, 3 also the internal transfers. Kinds 4 and 5 are 2 and 3 with operations. `transfers.ts`
 * and `operations.ts` describe how they are written. With `sumFlag` in its kind a confirmed record ends with its checksum
 * (`recordSums.ts`), as all do that this version writes.
 */
export const recordKinds = {
  ...{ plain: 0x01, withTransfers: 0x02, traced: 0x03, withOperations: 0x04, tracedWithOperations: 0x05 },
  pending: 0x41
} as const

/** Set in the kind of a confirmed record that has a checksum. */
export const sumFlag = 0x80
export const sumLength = 4
/** Set in a confirmed record that has token transfers; never in kind 1. */
export const transfersFlag = 128
/** Set in a confirmed record of kind 4 or 5 that has operations. */
export const operationsFlag = 1024
const failedFlag = 16

export const hashLength = 32
const addressLength = 20

/** A row of the table with its index in the table. */
interface IndexedField extends Field {
  readonly index: number
}

/** The parts of a record of one kind. */
export interface Layout {
  readonly isPending: boolean
  /** All fields but the hash, which precedes the flags. */
  readonly fields: readonly IndexedField[]
  /** All known flags. Any other bit means damage or a newer writer. */
  readonly flags: number
  readonly knowsTransfers: boolean
  readonly knowsInternal: boolean
  readonly knowsOperations: boolean
  /** Length of the checksum at its end. */
  readonly sumLength: number
}

/** All fields but the hash, which is the first row of the table. */
const others: readonly IndexedField[] = transactionFields
  .map((field, index) => ({ ...field, index }))
  .slice(1)

function layoutOf(kindByte: number): Layout {
  const kind = kindByte & ~sumFlag
  const isPending = kind === recordKinds.pending
  const form = isPending ? 'pending' : 'confirmed'
  const fields = others.filter(field => field.in === 'both' || field.in === form)
  const knowsTransfers = !isPending && kind !== recordKinds.plain
  const knowsInternal = kind === recordKinds.traced || kind === recordKinds.tracedWithOperations
  const knowsOperations = kind === recordKinds.withOperations || kind === recordKinds.tracedWithOperations
  const flags = (knowsTransfers ? transfersFlag : 0) | (knowsOperations ? operationsFlag : 0)
  const all = fields.reduce((joined, { flag }) => joined | flag, flags)
  const length = kind === kindByte ? 0 : sumLength
  return { isPending, fields, flags: all, knowsTransfers, knowsInternal, knowsOperations, sumLength: length }
}

const layouts: ReadonlyMap<number, Layout> = new Map(
  Object.values(recordKinds)
    .flatMap(kind => (kind === recordKinds.pending ? [kind] : [kind, kind | sumFlag]))
    .map(kind => [kind, layoutOf(kind)])
)

/** @throws {StoreError} this version does not know the kind. */
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
 * Offsets of the parts of one record, so that a reader decodes only the fields it needs. `locate` fills the object; it can be
 * reused for any number of records.
 */
export class RecordParts {
  readonly #offsets = new Int32Array(transactionFields.length)
  readonly #reader = new ByteReader()
  layout: Layout = layoutOf(recordKinds.plain)
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

  /** Older versions ignored the logs of failed transactions: that they stored none does not mean that there were none. */
  get knowsTransfers(): boolean {
    const { knowsTransfers, knowsOperations } = this.layout
    const isIgnored = !knowsOperations && (this.present & failedFlag) !== 0 && this.transfersLength === 0
    return knowsTransfers && !isIgnored
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
    this.operationsLength = layout.knowsOperations && present & operationsFlag ? reader.varint() : 0
    this.operations = reader.skip(this.operationsLength)
    reader.skip(layout.sumLength)
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
