import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { readCid } from './cid.ts'
import { verifyContent } from './verifyContent.ts'

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
