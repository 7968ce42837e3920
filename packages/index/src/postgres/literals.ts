import type { Hash } from '../model/evm.ts'
import { hashKey, toHex } from '../record/hexBytes.ts'

/** Bytes as an SQL literal, for statements that travel together and so cannot have parameters. */
export function bytesLiteral(bytes: Uint8Array): string {
  return `'\\x${toHex(bytes).slice(2)}'::bytea`
}

/** The text of a statement with its values in place of its parameters. Texts must be digits. */
export function withLiterals(text: string, values: readonly unknown[]): string {
  return text.replace(/\$(\d+)/g, (_, position) => {
    const value = values[Number(position) - 1]
    if (value instanceof Uint8Array) return bytesLiteral(value)
    if (typeof value === 'number' || (typeof value === 'string' && /^-?\d+$/.test(value)))
      return String(value)
    throw new TypeError(`a value of the statement is neither bytes nor a number (${typeof value})`)
  })
}

/** Numbers as a `bigint[]` literal. */
export function bigintsLiteral(numbers: readonly number[]): string {
  return `'{${numbers.join(',')}}'::bigint[]`
}

/** Values of bytes as a `bytea[]` literal. */
export function bytesArrayLiteral(values: readonly Uint8Array[]): string {
  return hexArrayLiteral(values.map(bytes => toHex(bytes).slice(2)))
}

/** The same, of hex. One literal for all: the server reads it in one go, where an expression for each value would be planned. */
export function hexArrayLiteral(values: readonly string[]): string {
  return values.length === 0 ? "'{}'::bytea[]" : `'{"\\\\x${values.join('","\\\\x')}"}'::bytea[]`
}

/** Key of a transaction hash in `tx_hash`: its first 8 bytes as a signed big-endian number, as a query's parameter wants it. */
export function hashKeyNumber(hash: Hash): string {
  return hashKey(hash).readBigInt64BE().toString()
}
