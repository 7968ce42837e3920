import type { Address, Hash, Hex } from '@chain-data/index'
import { NodeContradictionError } from '../../platform/errors.ts'

/** A JSON object as the node sent it; nothing about its members is known yet. */
export type RawObject = Readonly<Record<string, unknown>>

/** 256 bits: the widest number in any EVM structure. */
const maxQuantityDigits = 64
const maxQuotedLength = 80

/*
 * Each reader takes the name of what it reads for its error message: `what`, or its member `name`.
 */

/** @throws {NodeContradictionError} when it is not an object. */
export function readObject(value: unknown, what: string, name?: string): RawObject {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as RawObject
  throw unexpected(named(what, name), value, 'an object')
}

/** @throws {NodeContradictionError} when it is not a list. */
export function readList(value: unknown, what: string, name?: string): readonly unknown[] {
  if (Array.isArray(value)) return value
  throw unexpected(named(what, name), value, 'a list')
}

/** Reports whether a node gave no value: a missing key, null and an empty string all mean none. */
export function isAbsent(value: unknown): value is undefined | null | '' {
  return value === undefined || value === null || value === ''
}

/**
 * Reads a quantity, exact at any size. Real chains also send leading zeros, upper-case digits, `0x` for zero and exact JSON
 * numbers, so these are accepted. A decimal string is refused: `"10"` could be ten or sixteen.
 * @throws {NodeContradictionError} for anything else, and beyond 256 bits.
 */
export function readQuantity(value: unknown, what: string, name?: string): bigint {
  const small = smallQuantity(value)
  if (small !== undefined) return BigInt(small)
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return BigInt(value)
  if (typeof value === 'string') {
    const digits = /^0[xX]0*([0-9a-fA-F]*)$/.exec(value)?.[1]
    if (digits === '') return 0n
    if (digits !== undefined && digits.length <= maxQuantityDigits) return BigInt(`0x${digits}`)
  }
  throw unexpected(named(what, name), value, 'a quantity')
}

/** Like {@link readQuantity}; `undefined` where the node has none. */
export function readOptionalQuantity(value: unknown, what: string, name?: string): bigint | undefined {
  return isAbsent(value) ? undefined : readQuantity(value, what, name)
}

/** Reads a quantity that counts blocks, list entries or seconds. @throws {NodeContradictionError} beyond 2^53 - 1. */
export function readCount(value: unknown, what: string, name?: string): number {
  const small = smallQuantity(value)
  if (small !== undefined) return small
  const quantity = readQuantity(value, what, name)
  if (quantity <= BigInt(Number.MAX_SAFE_INTEGER)) return Number(quantity)
  throw unexpected(named(what, name), value, 'a number below 2^53')
}

/** Value of each lower-case hex digit by its character code; -1 for all others. */
export const digitValues = Int8Array.from({ length: 128 }, (_, code) =>
  '0123456789abcdef'.indexOf(String.fromCharCode(code))
)

/** Longest hex number whose every value is exact as a JS number. */
const maxSmallDigits = 13

/** Reads a number in its most common form, without the cost of a BigInt. `undefined`: it has another form, or is too long. */
export function smallQuantity(value: unknown): number | undefined {
  if (typeof value !== 'string' || value.length < 3 || value.length > 2 + maxSmallDigits) return undefined
  if (!value.startsWith('0x')) return undefined
  let sum = 0
  for (let i = 2; i < value.length; i++) {
    const digit = digitValues[value.charCodeAt(i)] ?? -1
    if (digit < 0) return undefined
    sum = sum * 16 + digit
  }
  return sum
}

/** Reads bytes of any length, in lower case; `0x` where the node has none. */
export function readBytes(value: unknown, what: string, name?: string): Hex {
  if (isAbsent(value)) return '0x'
  const bytes = asBytes(value)
  if (bytes === undefined) throw unexpected(named(what, name), value, '0x-hex bytes')
  return bytes
}

/** Reads whole bytes of 0x-hex, in lower case; `undefined` for everything else. */
export function asBytes(value: unknown): Hex | undefined {
  return typeof value === 'string' && value.length % 2 === 0 ? asHex(value, value.length - 2) : undefined
}

/** Reads 0x and `digits` hex digits, in lower case; `undefined` for everything else. Most values need no change. */
export function asHex(value: unknown, digits: number): Hex | undefined {
  if (typeof value !== 'string' || value.length !== 2 + digits || digits < 0) return undefined
  let all = 0
  for (let i = 2; i < value.length; i++) all |= digitValues[value.charCodeAt(i)] ?? -1
  if (all >= 0 && value.startsWith('0x')) return value as Hex
  return /^0[xX][0-9a-fA-F]*$/.test(value) ? (value.toLowerCase() as Hex) : undefined
}

/** Reads 32 bytes, in lower case. */
export function readHash(value: unknown, what: string, name?: string): Hash {
  const hash = asHex(value, 64)
  if (hash === undefined) throw unexpected(named(what, name), value, 'a 32-byte hash')
  return hash
}

/** Reads 20 bytes, in lower case. */
export function readAddress(value: unknown, what: string, name?: string): Address {
  const address = asHex(value, 40)
  if (address === undefined) throw unexpected(named(what, name), value, 'an address')
  return address
}

/** Like {@link readAddress}; `undefined` where the node has none. `0x` counts as none. */
export function readOptionalAddress(value: unknown, what: string, name?: string): Address | undefined {
  return isAbsent(value) || value === '0x' ? undefined : readAddress(value, what, name)
}

/** Joins the name of a field. Only an error calls it: there are many fields, and most are sound. */
function named(what: string, name: string | undefined): string {
  return name === undefined ? what : `${what}: ${name}`
}

function unexpected(what: string, value: unknown, expected: string): NodeContradictionError {
  const text = JSON.stringify(value) ?? 'nothing'
  const quoted = text.length > maxQuotedLength ? `${text.slice(0, maxQuotedLength)}...` : text
  return new NodeContradictionError(`${what} is ${quoted}; expected ${expected}`)
}

/** Writes minimal 0x-hex, as EIP-1474 wants quantities in params. */
export function toQuantity(value: number): string {
  return `0x${value.toString(16)}`
}
