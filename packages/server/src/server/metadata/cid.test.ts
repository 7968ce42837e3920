import fc from 'fast-check'
import { base16, base16upper } from 'multiformats/bases/base16'
import { base32, base32upper } from 'multiformats/bases/base32'
import { base36, base36upper } from 'multiformats/bases/base36'
import { base58btc } from 'multiformats/bases/base58'
import { base64url } from 'multiformats/bases/base64'
import { CID } from 'multiformats/cid'
import { create as createMultihash } from 'multiformats/hashes/digest'
import { expect, test } from 'vitest'
import { canonicalCid, isPeerId, readCid } from './cid.ts'

const v0 = 'QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWKPbdG'
const v1 = 'bafybeigdyrzt5sfp7udm7hu76uh7y26nf3efuylqabf3oclgtqy55fbzdi'
const bases = [base16, base16upper, base32, base32upper, base36, base36upper, base58btc, base64url] as const

const cids = fc
  .tuple(
    fc.constantFrom(0x55, 0x70, 0x72, 0x0129, 0x51, 0),
    fc.oneof(
      fc.record({ code: fc.constant(0x12), digest: fc.uint8Array({ minLength: 32, maxLength: 32 }) }),
      fc.record({ code: fc.constantFrom(0, 0x13, 0xb220), digest: fc.uint8Array({ maxLength: 64 }) })
    )
  )
  .map(([codec, { code, digest }]) => CID.createV1(codec, createMultihash(code, digest)))

/**
 * What the library says of a text, in our words. It also takes any CID in base58 that lost its prefix and begins with Q, and
 * codes of more than 28 bits, which nobody has registered.
 */
function readByLibrary(text: string) {
  if (/^Q[^m]/.test(text)) return undefined
  try {
    const base = bases.find(({ prefix }) => prefix === text[0])
    const { version, code, multihash } = text.startsWith('Qm') ? CID.parse(text) : CID.parse(text, base)
    if (Math.max(code, multihash.code) >= 2 ** 28) return undefined
    return { version, codec: code, hashFunction: multihash.code, digest: [...multihash.digest] }
  } catch {
    return undefined
  }
}

function readHere(text: string) {
  const cid = readCid(text)
  return cid && { ...cid, digest: [...cid.digest] }
}

test('reads what the multiformats library writes, in every base', () => {
  fc.assert(
    fc.property(cids, fc.constantFrom(...bases), (cid, base) => {
      const text = cid.toString(base)
      fc.pre(text.length <= 256)
      expect(readHere(text)).toEqual(readByLibrary(text))
      expect(readHere(text)).toBeDefined()
    }),
    { numRuns: 1_000 }
  )
})

test('agrees with the library on texts with one character changed, dropped or added', () => {
  const change = fc.record({
    at: fc.nat(70),
    drop: fc.constantFrom(0, 1),
    add: fc.string({ maxLength: 1, unit: fc.constantFrom(...'0OIlQmabzBFKku7_-+/= ') })
  })
  fc.assert(
    fc.property(cids, fc.constantFrom(...bases), change, (cid, base, { at, drop, add }) => {
      const text = cid.toString(base)
      const changed = text.slice(0, at) + add + text.slice(at + drop)
      fc.pre(changed.length <= 256)
      // The library takes padding and spaces, which no address has.
      expect(readHere(changed)).toEqual(/[= ]/.test(changed) ? undefined : readByLibrary(changed))
    }),
    { numRuns: 5_000 }
  )
})

test('agrees with the library on version 0', () => {
  const digests = fc.uint8Array({ minLength: 32, maxLength: 32 })
  fc.assert(
    fc.property(digests, fc.nat(45), fc.constantFrom(...'', '1', '0', 'z'), (digest, at, letter) => {
      const text = CID.createV0(createMultihash(0x12, digest)).toString()
      expect(readHere(text)).toEqual(readByLibrary(text))
      const changed = text.slice(0, at) + letter + text.slice(at + 1)
      fc.pre(changed.startsWith('Qm'))
      expect(readHere(changed)).toEqual(readByLibrary(changed))
    })
  )
})

test('all spellings of one address have one canonical form', () => {
  const spellings = [v0, ...bases.map(base => CID.parse(v0).toV1().toString(base))]
  const forms = spellings.map(text => {
    const cid = readCid(text)
    return cid && canonicalCid(cid)
  })
  expect(new Set(forms).size).toBe(1)
  expect(forms[0]).toMatch(/^70-12-[0-9a-f]{64}$/)
})

test('content identifiers are told from look-alikes by their bytes', () => {
  const hex = `f01551220${'ab'.repeat(32)}`
  expect([v0, v1, hex].filter(text => readCid(text) === undefined)).toEqual([])
  const invalid = [
    '', 'Q', `${v0}a`, v0.replace('Q', 'R'), `Qm${'1'.repeat(44)}`, `${v0.slice(0, 45)}0`, `${v1}a`, v1.slice(0, -1),
    `${hex}00`, hex.slice(0, -2), 'f', 'b', 'z', 'k', 'u', `b${'a'.repeat(1000)}`, 'baaaaaaa',
    `f02551220${'ab'.repeat(32)}`, `f0155921200${'ab'.repeat(32)}`
  ] // biome-ignore format: a table
  expect(invalid.filter(text => readCid(text) !== undefined)).toEqual([])
})

test('peer ids are told from other names', () => {
  expect(isPeerId('12D3KooWD3eckifWpRn9wQpMG9R9hX3sD158z7EqHWmweQAJU5SA')).toBe(true)
  expect(isPeerId(v0)).toBe(true)
  expect(isPeerId('docs.ipfs.tech')).toBe(false)
  expect(isPeerId('hello')).toBe(false)
  expect(isPeerId('')).toBe(false)
})
