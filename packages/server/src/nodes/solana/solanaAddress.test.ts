import { PublicKey } from '@solana/web3.js'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { formatSolanaAddress, METAPLEX_PROGRAM, parseSolanaAddress } from './solanaAddress.ts'

const key = fc.uint8Array({ minLength: 32, maxLength: 32 })
const zeroLedKey = fc
  .tuple(fc.integer({ min: 0, max: 32 }), key)
  .map(([zeros, bytes]) => Uint8Array.from(bytes, (byte, at) => (at < zeros ? 0 : byte)))

it('writes keys as web3.js does and reads them back', () => {
  fc.assert(
    fc.property(fc.oneof(key, zeroLedKey), bytes => {
      const text = formatSolanaAddress(bytes)
      expect(text).toBe(new PublicKey(bytes).toBase58())
      expect(parseSolanaAddress(text)).toEqual(bytes)
    })
  )
})

it('accepts exactly the base58 text that web3.js takes for 32 bytes', () => {
  const alphabet = [...'123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz']
  const text = fc.string({ unit: fc.constantFrom(...alphabet), minLength: 31, maxLength: 45 })
  fc.assert(
    fc.property(text, candidate => {
      let bytes: Uint8Array | undefined
      try {
        // Decoding alone pads short keys with zeros; writing back shows whether it was 32 bytes.
        const read = new PublicKey(candidate)
        if (read.toBase58() === candidate) bytes = read.toBytes()
      } catch {}
      expect(parseSolanaAddress(candidate)).toEqual(bytes === undefined ? undefined : new Uint8Array(bytes))
    })
  )
})

it.each([
  ['31 bytes', formatSolanaAddress(new Uint8Array(31).fill(255))],
  ['33 bytes', formatSolanaAddress(new Uint8Array(33).fill(1))],
  ['44 digits beyond 2^256', 'z'.repeat(44)],
  ['33 zero bytes', '1'.repeat(33)],
  ['a letter that base58 lacks', METAPLEX_PROGRAM.replace('m', 'l')],
  ['an empty text', ''],
  ['a hex address', '0x52908400098527886E0F7030069857D2E4169EE7']
])('refuses %s', (_what, text) => {
  expect(parseSolanaAddress(text)).toBeUndefined()
})
