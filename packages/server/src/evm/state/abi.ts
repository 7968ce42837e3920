import { isUtf8 } from 'node:buffer'
import type { Address, Hex } from '@chain-data/index'

/**
 * The few pieces of the contract ABI that holdings need, read strictly: what is not exactly well-formed is absent.
 * Libraries are kind to broken answers (a `decimals` of 256 becomes 0); a wallet must not be.
 *
 * All of these read what `eth_call` returned, as lower- or upper-case hex digits without `0x`.
 */
export type ReturnData = string

const digitsPerWord = 64

/** @param selector - `0x` and 8 hex digits. @param words - each fits into 256 bits. */
export function encodeCall(selector: Hex, ...words: readonly (bigint | Address)[]): Hex {
  return `${selector}${words.map(word => BigInt(word).toString(16).padStart(digitsPerWord, '0')).join('')}`
}

/** @returns `undefined` for anything that is not whole bytes in hex. */
export function readReturnData(answer: unknown): ReturnData | undefined {
  if (typeof answer !== 'string' || answer.length % 2 !== 0 || !/^0x[0-9a-f]*$/i.test(answer))
    return undefined
  return answer.slice(2)
}

/** The first word. More than one word is fine, as it is for contracts that call each other; less is not. */
export function decodeUint(data: ReturnData): bigint | undefined {
  return data.length < digitsPerWord ? undefined : BigInt(`0x${data.slice(0, digitsPerWord)}`)
}

/** @returns `undefined` also when the 12 bytes above the address are not zero. */
export function decodeAddress(data: ReturnData): Address | undefined {
  const value = decodeUint(data)
  if (value === undefined || value >> 160n !== 0n) return undefined
  return `0x${value.toString(16).padStart(40, '0')}`
}

/** @returns `undefined` for anything but 0 and 1. */
export function decodeBool(data: ReturnData): boolean | undefined {
  const value = decodeUint(data)
  return value === 0n || value === 1n ? value === 1n : undefined
}

/**
 * A `string`, or the `bytes32` that tokens returned before that became usual (cut at its first zero byte).
 *
 * @returns `undefined` for bytes that are no UTF-8, and when the offset leads before, or the offset or length beyond, where the text may lie.
 */
export function decodeText(data: ReturnData): string | undefined {
  const bytes = bytesOfText(data)
  return bytes === undefined || !isUtf8(bytes) ? undefined : bytes.toString('utf8')
}

/** Tells whether data has the form of a text, whatever its bytes. */
export function hasFormOfText(data: ReturnData): boolean {
  return bytesOfText(data) !== undefined
}

function bytesOfText(data: ReturnData): Buffer | undefined {
  if (data.length === digitsPerWord) {
    const bytes = Buffer.from(data, 'hex')
    const end = bytes.indexOf(0)
    return bytes.subarray(0, end < 0 ? bytes.length : end)
  }
  const size = BigInt(data.length / 2)
  const offset = decodeUint(data)
  if (offset === undefined || offset < 32n || offset + 32n > size) return undefined
  const length = decodeUint(data.slice(Number(offset) * 2))
  if (length === undefined || offset + 32n + length > size) return undefined
  const start = (Number(offset) + 32) * 2
  return Buffer.from(data.slice(start, start + Number(length) * 2), 'hex')
}
