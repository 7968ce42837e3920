import type { Address } from '../../model/evm.ts'
import type { Recount } from '../port/audit.ts'
import { addressLength } from '../record/encodeBlock.ts'
import { behindAddresses, compareTallies, type PartTally, partBounds, Tally } from '../record/tally.ts'
import type { IdWindow } from './history.ts'

const rowLength = addressLength + 8
/** Rows that one statement gives. */
const rowsAtOnce = 8_192

/** What is counted, and how its rows are read. */
export interface PartToCount {
  readonly address: Address
  /** What was written. */
  readonly written: PartTally
  /** Smallest id whose rows were counted when they were written. */
  readonly firstId: number
  /** Windows of ids, newest first, down to 0. */
  readonly windows: AsyncIterable<IdWindow>
  /** Asks for the rows that follow a row, below an address, of a window: the answer to the statement `rowsBetween`. */
  ask(
    after: { readonly address: Uint8Array; readonly id: number },
    below: Uint8Array,
    window: IdWindow,
    limit: number
  ): Promise<Buffer | undefined>
}

/**
 * Counts the rows of the part of the address index that an address is in, and compares them with what was written.
 * @param limits.maxRows - more are not counted.
 */
export async function recountPart(
  { address, written, firstId, windows, ask }: PartToCount,
  { maxRows, signal }: { readonly maxRows: number; readonly signal?: AbortSignal | undefined }
): Promise<Recount> {
  const unknown: Recount = { isComplete: false, missing: [], unresolved: 0 }
  const { first, end = behindAddresses } = partBounds(address)
  const found = new Tally()
  let count = 0
  for await (const window of windows) {
    if (window.end <= firstId) break
    const within = { ...window, from: Math.max(window.from, firstId) }
    let after = { address: first, id: -1 }
    for (let rows = 0; ; ) {
      if (signal?.aborted === true) return unknown
      const bytes = await ask(after, end, within, rowsAtOnce)
      rows = (bytes?.length ?? 0) / rowLength
      count += rows
      if (count > maxRows) return unknown
      if (bytes === undefined) break
      after = addRows(found, bytes)
      if (rows < rowsAtOnce) break
    }
  }
  return { isComplete: true, ...compareTallies(written, found.part(address), address) }
}

/** @returns the last one. */
function addRows(tally: Tally, rows: Buffer): { readonly address: Uint8Array; readonly id: number } {
  let id = 0
  for (let at = 0; at < rows.length; at += rowLength) {
    const place = at + addressLength
    id = rows.readUInt32BE(place) * 2 ** 32 + rows.readUInt32BE(place + 4)
    tally.add(rows, at, id)
  }
  return { address: rows.subarray(rows.length - rowLength, rows.length - 8), id }
}
