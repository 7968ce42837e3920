import type { Address, ChangePosition } from '@chain-data/index'

/** Where a stream goes on. */
export interface Cursor {
  /** Name of the log that the position is in. */
  readonly log: string
  readonly position: ChangePosition
  /** Absent: nothing of the change after `position` was sent. Else it was sent for its addresses up to this one. */
  readonly sentUpTo?: Address
}

/** Digits of the two numbers of a position, so that cursors sort as texts: 2^52 entries, of 2^32 changes each and one more. */
const [entryDigits, indexDigits] = [13, 9]
const pattern = /^([0-9a-f]{16})-([0-9a-f]{13})-([0-9a-f]{9})(?:-([0-9a-f]{40}))?$/

/**
 * Writes a cursor as text. Of two cursors of one log the later is the greater text.
 *
 * @remarks What is written is the index after the last change, so that a change that was sent for some of its addresses sorts
 *   between the one before it and the whole of it.
 */
export function formatCursor({ log, position: { entry, index }, sentUpTo }: Cursor): string {
  const place = `${log}-${hex(entry, entryDigits)}-${hex(index + 1, indexDigits)}`
  return sentUpTo === undefined ? place : `${place}-${sentUpTo.slice(2)}`
}

/** @returns absent where the text is no cursor of this server. */
export function parseCursor(text: string): Cursor | undefined {
  const [, log, entry, index, address] = pattern.exec(text) ?? []
  if (log === undefined || entry === undefined || index === undefined) return undefined
  const position = { entry: Number.parseInt(entry, 16), index: Number.parseInt(index, 16) - 1 }
  return { log, position, ...(address !== undefined && { sentUpTo: `0x${address}` as const }) }
}

/** Compares two positions of one log: negative where the first one is earlier. */
export function comparePositions(one: ChangePosition, other: ChangePosition): number {
  return one.entry - other.entry || one.index - other.index
}

function hex(value: number, digits: number): string {
  return value.toString(16).padStart(digits, '0')
}
