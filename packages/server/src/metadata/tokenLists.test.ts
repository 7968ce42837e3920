import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { metadataFailure } from './metadataFailure.ts'
import { createTokenLists } from './tokenLists.ts'

const gateways = { ipfs: ['https://one.gateway.art'], arweave: [] }
const address = '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48'
const token = {
  chainId: 1,
  address,
  name: 'USD Coin',
  symbol: 'USDC',
  decimals: 6,
  logoURI: 'https://a.names.art/u.png'
}

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'token-lists-'))
})
afterEach(() => rm(folder, { recursive: true }))

async function file(name: string, content: unknown): Promise<string> {
  const path = join(folder, name)
  await writeFile(path, typeof content === 'string' ? content : JSON.stringify(content))
  return path
}

async function load(sources: readonly string[], remote: Readonly<Record<string, unknown>> = {}) {
  const warnings: string[] = []
  const lists = createTokenLists({
    sources,
    gateways,
    guardedFetch: async url => {
      if (!(url in remote)) throw metadataFailure('STATUS', 'HTTP status 404')
      return { url, contentType: '', body: Buffer.from(JSON.stringify(remote[url])) }
    },
    warn: (message, { source, problem }) => warnings.push(`${message}: ${source}: ${problem}`)
  })
  expect(lists.image(1, address)).toBe('')
  await lists.load()
  return { lists, warnings }
}

test('gives the logo by chain and address, in any case', async () => {
  const { lists, warnings } = await load([await file('a.json', { name: 'A', tokens: [token] })])
  expect(lists.image(1, address)).toBe('https://a.names.art/u.png')
  expect(lists.image(1, address.toLowerCase())).toBe('https://a.names.art/u.png')
  expect(lists.image(10, address)).toBe('')
  expect(lists.image(1, `0x${'00'.repeat(20)}`)).toBe('')
  expect(warnings).toEqual([])
})

test('an earlier list wins, a later one fills the gaps', async () => {
  const other = { ...token, chainId: 10, logoURI: 'ipfs://QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWKPbdG' }
  const first = await file('a.json', { name: 'A', tokens: [token] })
  const second = 'https://lists.names.art/b.json'
  const { lists } = await load([first, second], {
    [second]: { name: 'B', tokens: [{ ...token, logoURI: 'https://b.names.art/u.png' }, other] }
  })
  expect(lists.image(1, address)).toBe('https://a.names.art/u.png')
  expect(lists.image(10, address)).toBe(
    'https://one.gateway.art/ipfs/QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWKPbdG'
  )
})

test('a missing or broken list is a warning, and the others still count', async () => {
  const good = await file('good.json', { name: 'A', tokens: [token] })
  const { lists, warnings } = await load([
    join(folder, 'missing.json'),
    await file('broken.json', '{'),
    await file('array.json', [token]),
    await file('nameless.json', { tokens: [token] }),
    'https://lists.names.art/gone.json',
    good
  ])
  expect(warnings).toHaveLength(5)
  expect(warnings[0]).toContain('missing.json: ENOENT')
  expect(lists.image(1, address)).toBe('https://a.names.art/u.png')
})

test('a bad entry is left out and spoils nothing', async () => {
  const bad = [
    null,
    1,
    {},
    { ...token, chainId: '1' },
    { ...token, address: '0x1' },
    { ...token, logoURI: 1 },
    { ...token, logoURI: 'http://a.names.art/insecure.png' },
    { ...token, logoURI: 'https://10.0.0.1/private.png' }
  ]
  const { lists } = await load([await file('a.json', { name: 'A', tokens: [...bad, token] })])
  expect(lists.image(1, address)).toBe('https://a.names.art/u.png')
})
