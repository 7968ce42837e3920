import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { base16, base16upper } from 'multiformats/bases/base16'
import { base32, base32upper } from 'multiformats/bases/base32'
import { base36, base36upper } from 'multiformats/bases/base36'
import { base58btc } from 'multiformats/bases/base58'
import { base64url } from 'multiformats/bases/base64'
import { CID } from 'multiformats/cid'
import { create as createMultihash } from 'multiformats/hashes/digest'
import { expect, test } from 'vitest'
import { canonicalCid, isPeerId, readCid, verifyContent } from './cid.ts'

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

test('reads a version 1 address in every base', () => {
  fc.assert(
    fc.property(cids, fc.constantFrom(...bases), (cid, base) => {
      const text = cid.toString(base)
      fc.pre(text.length <= 256)
      const { code, digest } = cid.multihash
      expect(readCid(text)).toEqual({ codec: cid.code, hashFunction: code, digest })
    }),
    { numRuns: 1_000 }
  )
})

test('a text that is read as an address is one spelling of it', () => {
  const change = fc.record({
    at: fc.nat(70),
    drop: fc.constantFrom(0, 1),
    add: fc.string({ maxLength: 1, unit: fc.constantFrom(...'0OIlQmabzBFKku7_-+/= ') })
  })
  const version0 = fc
    .uint8Array({ minLength: 32, maxLength: 32 })
    .map(digest => CID.createV0(createMultihash(0x12, digest)).toString())
  const texts = fc.oneof(
    version0,
    fc.tuple(cids, fc.constantFrom(...bases)).map(([cid, base]) => cid.toString(base))
  )
  fc.assert(
    fc.property(texts, change, (text, { at, drop, add }) => {
      const changed = text.slice(0, at) + add + text.slice(at + drop)
      const found = readCid(changed)
      if (found === undefined) return
      const multihash = createMultihash(found.hashFunction, found.digest)
      if (changed.startsWith('Qm')) {
        expect(CID.createV0(createMultihash(0x12, found.digest)).toString()).toBe(changed)
      } else {
        const base = bases.find(({ prefix }) => prefix === changed[0]) ?? base32
        const written = CID.createV1(found.codec, multihash).toString(base)
        const isCaseFree = /^[fFbBkK]/.test(changed)
        expect(isCaseFree ? written.toLowerCase() : written).toBe(
          isCaseFree ? changed.toLowerCase() : changed
        )
      }
    }),
    { numRuns: 5_000 }
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

function proofOf(cid: string, body: string | Uint8Array) {
  const known = readCid(cid)
  if (known === undefined) throw new Error(`no CID: ${cid}`)
  return verifyContent(known, typeof body === 'string' ? Buffer.from(body) : body)
}

/** As `ipfs add` and `ipfs add --raw-leaves` name them. */
const helloFile = 'QmT78zSuBmuS4z925WZfrqQ1qHaJ56DQaTfyMUF7F8ff5o'
const helloRaw = 'bafkreifzjut3te2nhyekklss27nh3k72ysco7y32koao5eei66wof36n5e'

test('a file in one dag-pb block is proven by its CID', () => {
  expect(proofOf(helloFile, 'hello world\n')).toBe('proven')
})

test('another body than that of a dag-pb block stays open: the file may have several blocks', () => {
  expect(proofOf(helloFile, 'hello world')).toBe('open')
})

test('a raw block is proven or refuted', () => {
  expect(proofOf(helloRaw, 'hello world')).toBe('proven')
  expect(proofOf(helloRaw, 'hello world\n')).toBe('refuted')
  expect(proofOf(helloRaw, '')).toBe('refuted')
})

test('content inside its own address is proven or refuted', () => {
  expect(proofOf('f01550002abcd', Buffer.from('abcd', 'hex'))).toBe('proven')
  expect(proofOf('f01550002abcd', Buffer.from('abce', 'hex'))).toBe('refuted')
})

test('a large block with sizes of several bytes is proven', () => {
  const body = Buffer.alloc(200_000, 7)
  const size = [0xc0, 0x9a, 0x0c]
  const unixFs = Buffer.from([0x08, 2, 0x12, ...size, ...body, 0x18, ...size])
  const block = Buffer.from([0x0a, 0xca, 0x9a, 0x0c, ...unixFs])
  const digest = createHash('sha256').update(block).digest('hex')
  expect(unixFs.length).toBe(0xca - 0x80 + (0x1a << 7) + (0x0c << 14))
  expect(proofOf(`f01701220${digest}`, body)).toBe('proven')
})

test.each([
  ['another hash function', `f01551320${'ab'.repeat(32)}`],
  ['a shortened hash', 'f01551204abababab'],
  ['another codec', `f01711220${'ab'.repeat(32)}`]
])('%s stays open', (_what, cid) => {
  expect(proofOf(cid, 'x')).toBe('open')
})
