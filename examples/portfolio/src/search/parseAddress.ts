import { keccak_256 } from '@noble/hashes/sha3.js'
import { base58Length } from './base58Length.ts'

/** What somebody typed, understood or not. */
export type ParsedAddress =
  | { readonly family: 'evm' | 'solana'; readonly address: string; readonly problem?: undefined }
  | {
      readonly problem: string
      /** Set where the text is an address all the same, should its writer insist. */
      readonly insist?: { readonly family: 'evm'; readonly address: string }
    }

/**
 * Reads an address of either family; which one is obvious from its form.
 *
 * @returns EVM addresses with their checksum (EIP-55), whatever case they came in; or what is wrong, in words.
 */
export function parseAddress(typed: string): ParsedAddress {
  const text = typed.trim()
  if (text === '') return { problem: 'Enter an address: 0x and 40 hex digits, or base58 for Solana.' }
  if (/^0x/i.test(text)) return parseEvm(text)
  if (/^[0-9a-f]{40}$/i.test(text)) return parseEvm(`0x${text}`)
  if (text.includes('.')) {
    return { problem: 'Names such as vitalik.eth are not looked up here. Enter the address itself.' }
  }
  return parseSolana(text)
}

/** The address with the upper and lower case that EIP-55 gives it. */
export function checksummed(address: string): string {
  const digits = [...address.slice(2).toLowerCase()]
  const hash = keccak_256(new TextEncoder().encode(digits.join('')))
  // Each digit's case hangs on one half of a byte.
  const isUpper = (at: number) => (((hash[at >> 1] ?? 0) >> (at % 2 === 0 ? 4 : 0)) & 15) > 7
  return `0x${digits.map((digit, at) => (isUpper(at) ? digit.toUpperCase() : digit)).join('')}`
}

function parseEvm(text: string): ParsedAddress {
  const digits = text.slice(2)
  const strange = /[^0-9a-f]/i.exec(digits)?.[0]
  if (strange !== undefined) {
    return { problem: `“${strange}” is no hex digit. An EVM address has 0 to 9 and a to f behind 0x.` }
  }
  if (digits.length === 64) return { problem: 'That is the hash of a transaction or block, not an address.' }
  if (digits.length !== 40) {
    return { problem: `An EVM address has 40 hex digits behind 0x; this has ${digits.length}.` }
  }
  const address = checksummed(text)
  const mixed = /[a-f]/.test(digits) && /[A-F]/.test(digits)
  if (!mixed || address.slice(2) === digits) return { family: 'evm', address }
  return {
    problem:
      'The upper and lower case letters do not fit the digits (EIP-55): there may be a typing mistake. Compare it with where it came from.',
    insist: { family: 'evm', address }
  }
}

function parseSolana(text: string): ParsedAddress {
  const strange = /[^1-9A-HJ-NP-Za-km-z]/u.exec(text)?.[0]
  if (strange !== undefined) {
    return {
      problem: `“${strange}” is in no address. EVM addresses begin with 0x; Solana’s are base58, without 0, O, I and l.`
    }
  }
  // Longer texts are no addresses, and decoding takes its time.
  const length = text.length > 100 ? undefined : base58Length(text)
  if (length === 32) return { family: 'solana', address: text }
  return {
    problem: `A Solana address stands for 32 bytes; this is ${length ?? 'far too long'}${length === undefined ? '' : ` (${text.length} characters)`}. An EVM address begins with 0x.`
  }
}
