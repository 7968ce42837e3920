import { IndexDamagedError } from '../platform/errors.ts'
import { partCount, partOf } from '../record/rowChecksums.ts'
import type { KeyedRows } from './keyedRows.ts'
import { type PartSumsReader, sumOfRows } from './partSums.ts'
import type { TableShape } from './tableShapes.ts'

/** Rows that are kept at most, of 28 bytes or more each. */
const maxRows = 500_000

interface CountedPart {
  /** Of the epoch, when the sum was read last. */
  version: string | undefined
  readonly sum: number
  readonly rows: KeyedRows
}

/**
 * Rows of parts of epochs that blocks are appended to, which agreed with their sum when they were read. As long as the sum is the
 * same, so are the rows: they are not read again.
 */
export class CountedParts {
  readonly #parts = new Map<number, CountedPart>()
  #rows = 0

  /**
   * Returns the rows of the part that a key is in.
   * @param version - as long as it is the same, so is the sum; absent: unknown.
   * @throws {IndexDamagedError} they are not those that were written.
   */
  rowsAround(
    reader: PartSumsReader,
    shape: TableShape,
    epoch: number,
    key: Uint8Array,
    version?: string
  ): KeyedRows {
    const part = partOf(key, 0)
    const name = (epoch * 4 + shape.keyed) * partCount + part
    const kept = this.#parts.get(name)
    if (kept !== undefined && version !== undefined && kept.version === version) return kept.rows
    const sum = reader.written(epoch)(part)
    if (kept?.sum === sum) {
      kept.version = version
      return kept.rows
    }
    const rows = reader.rows(epoch, part)
    if (sumOfRows(shape, rows) !== sum) {
      throw new IndexDamagedError(
        { part: shape.part, epoch, key: Buffer.from(key).toString('hex') },
        `rows of part ${part} of an epoch differ from their sum`
      )
    }
    if (kept !== undefined) this.#forget(name, kept)
    for (const [oldest, counted] of this.#parts) {
      if (this.#rows + rows.count <= maxRows) break
      this.#forget(oldest, counted)
    }
    this.#parts.set(name, { version, sum, rows })
    this.#rows += rows.count
    return rows
  }

  #forget(name: number, { rows }: CountedPart): void {
    this.#parts.delete(name)
    this.#rows -= rows.count
  }
}

/** Finds the rows whose keys begin with `prefix`: from `start` up to, but not including, `end`. */
export function findRows(
  { rows: { keyLength } }: TableShape,
  { fixed, count }: KeyedRows,
  prefix: Uint8Array
): { readonly start: number; readonly end: number } {
  const firstWhere = (isPast: (order: number) => boolean) => {
    let low = 0
    let high = count
    while (low < high) {
      const middle = (low + high) >> 1
      const at = middle * keyLength
      if (isPast(Buffer.compare(fixed.subarray(at, at + prefix.length), prefix))) high = middle
      else low = middle + 1
    }
    return low
  }
  return { start: firstWhere(order => order >= 0), end: firstWhere(order => order > 0) }
}
