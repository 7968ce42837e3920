import type { Address, Hash, Hex } from '../../model/evm.ts'
import { NodeContradictionError } from '../../platform/errors.ts'

/** A JSON object as the node sent it; nothing about its members is known yet. */
export type RawObject = Readonly<Record<string, unknown>>

/** 256 bits: the widest number in any EVM structure. */
const longestQuantity = 64
const longestQuoted = 80

/** @throws {NodeContradictionError} when it is not an object. */
export function readObject(value: unknown, what: string): RawObject {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as RawObject
  throw unexpected(what, value, 'an object')
}

/** @throws {NodeContradictionError} when it is not a list. */
export function readList(value: unknown, what: string): readonly unknown[] {
  if (Array.isArray(value)) return value
  throw unexpected(what, value, 'a list')
}

/** Real nodes write "none" as a missing key, as null and as an empty string. */
export function isAbsent(value: unknown): value is undefined | null | '' {
  return value === undefined || value === null || value === ''
}

/**
 * A quantity, exact at any size. Accepted beyond the standard form, because real chains send them: leading zeros,
 * upper-case digits, `0x` for zero, and plain JSON numbers while they are exact. A decimal string is refused: `"10"`
 * could mean either.
 * @throws {NodeContradictionError} for anything else, and beyond 256 bits.
 */
export function readQuantity(value: unknown, what: string): bigint {
  const small = smallQuantity(value)
  if (small !== undefined) return BigInt(small)
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return BigInt(value)
  if (typeof value === 'string') {
    const digits = /^0[xX]0*([0-9a-fA-F]*)$/.exec(value)?.[1]
    if (digits === '') return 0n
    if (digits !== undefined && digits.length <= longestQuantity) return BigInt(`0x${digits}`)
  }
  throw unexpected(what, value, 'a quantity')
}

/** Like {@link readQuantity}; `undefined` where the node has none. */
export function readOptionalQuantity(value: unknown, what: string): bigint | undefined {
  return isAbsent(value) ? undefined : readQuantity(value, what)
}

/** A quantity that counts blocks, places or seconds. @throws {NodeContradictionError} beyond 2^53 - 1. */
export function readCount(value: unknown, what: string): number {
  const small = smallQuantity(value)
  if (small !== undefined) return small
  const quantity = readQuantity(value, what)
  if (quantity <= BigInt(Number.MAX_SAFE_INTEGER)) return Number(quantity)
  throw unexpected(what, value, 'a number below 2^53')
}

/** Value of each lower-case hex digit by its character code; -1 for all others. */
const digitValues = Int8Array.from({ length: 128 }, (_, code) =>
  '0123456789abcdef'.indexOf(String.fromCharCode(code))
)

/** The most hex digits of which every number is exact as a JS number. */
const mostSmallDigits = 13

/** A number in the form in which most come; a BigInt takes several times as long. Absent: in another form, or too long. */
function smallQuantity(value: unknown): number | undefined {
  if (typeof value !== 'string' || value.length < 3 || value.length > 2 + mostSmallDigits) return undefined
  if (!value.startsWith('0x')) return undefined
  let sum = 0
  for (let i = 2; i < value.length; i++) {
    const digit = digitValues[value.charCodeAt(i)] ?? -1
    if (digit < 0) return undefined
    sum = sum * 16 + digit
  }
  return sum
}

/** Bytes of any length, in lower case; `0x` where the node has none. */
export function readBytes(value: unknown, what: string): Hex {
  if (isAbsent(value)) return '0x'
  if (typeof value === 'string' && value.length % 2 === 0 && /^0[xX][0-9a-fA-F]*$/.test(value)) {
    return value.toLowerCase() as Hex
  }
  throw unexpected(what, value, '0x-hex bytes')
}

/** Whether it is 0x and so many digits, all in lower case: then there is nothing to change, and nothing more to check. */
function isPlainHex(value: unknown, digits: number): value is Hex {
  if (typeof value !== 'string' || value.length !== 2 + digits || !value.startsWith('0x')) return false
  let all = 0
  for (let i = 2; i < value.length; i++) all |= digitValues[value.charCodeAt(i)] ?? -1
  return all >= 0
}

/** 32 bytes, in lower case. */
export function readHash(value: unknown, what: string): Hash {
  if (isPlainHex(value, 64)) return value
  if (typeof value === 'string' && /^0[xX][0-9a-fA-F]{64}$/.test(value)) return value.toLowerCase() as Hash
  throw unexpected(what, value, 'a 32-byte hash')
}

/** 20 bytes, in lower case. */
export function readAddress(value: unknown, what: string): Address {
  if (isPlainHex(value, 40)) return value
  if (typeof value === 'string' && /^0[xX][0-9a-fA-F]{40}$/.test(value)) return value.toLowerCase() as Address
  throw unexpected(what, value, 'an address')
}

/** Like {@link readAddress}; `undefined` where the node has none. `0x` counts as none. */
export function readOptionalAddress(value: unknown, what: string): Address | undefined {
  return isAbsent(value) || value === '0x' ? undefined : readAddress(value, what)
}

function unexpected(what: string, value: unknown, expected: string): NodeContradictionError {
  const text = JSON.stringify(value) ?? 'nothing'
  const quoted = text.length > longestQuoted ? `${text.slice(0, longestQuoted)}...` : text
  return new NodeContradictionError(`${what} is ${quoted}; expected ${expected}`)
}
