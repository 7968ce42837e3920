import { toHex } from '../record/hexBytes.ts'
import type { Value } from '../runs/Transaction.ts'
import { escapeLiteral } from './driver.ts'

/** Bytes as an SQL literal, for statements that travel together and so cannot have parameters. */
function bytesLiteral(bytes: Uint8Array): string {
  return `'\\x${toHex(bytes).slice(2)}'::bytea`
}

/** A value as an SQL literal. */
export function valueLiteral(value: Value): string {
  if (value === null) return 'NULL'
  if (typeof value === 'string') return escapeLiteral(value)
  // In parentheses: two minus signs begin a comment.
  return typeof value === 'number' ? `(${requireInteger(value)})` : bytesLiteral(value)
}

/** Returns a whole number: the server would round any other. */
export function requireInteger(value: number): number {
  if (Number.isSafeInteger(value)) return value
  throw new TypeError(`${value} cannot be stored; expected a whole number below 2^53`)
}

/** Numbers as the text of an array. */
export function numbersText(numbers: readonly number[]): string {
  return `{${numbers.join(',')}}`
}

/** Values of bytes as the text of an array. */
export function bytesText(values: readonly Uint8Array[]): string {
  return `{${values.map(bytes => `"\\\\x${toHex(bytes).slice(2)}"`).join(',')}}`
}
