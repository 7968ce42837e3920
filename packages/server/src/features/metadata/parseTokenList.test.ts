import { expect, test } from 'vitest'
import { parseTokenList } from './parseTokenList.ts'

const token = {
  chainId: 1,
  address: '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48',
  name: 'USD Coin',
  symbol: 'USDC',
  decimals: 6,
  logoURI: 'ipfs://logo'
}
const entry = {
  chainId: 1,
  address: token.address.toLowerCase(),
  name: 'USD Coin',
  symbol: 'USDC',
  logoUri: 'ipfs://logo'
}
const parse = (list: unknown) =>
  parseTokenList(Buffer.from(typeof list === 'string' ? list : JSON.stringify(list)), new Set([1]))
const parseTokens = (...tokens: unknown[]) => parse({ name: 'A', tokens })

test('entries of the wanted chains are kept, those of others are passed over', () => {
  const solana = { ...token, chainId: 501000101, address: 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v' }
  expect(parseTokens(token, { ...token, chainId: 10 }, solana)).toEqual({ entries: [entry], dropped: 0 })
})

test.each([
  null, 1, [], {}, { ...token, chainId: '1' }, { ...token, chainId: 1.5 }, { ...token, address: '0x1' },
  { ...token, address: 5 }, { ...token, name: undefined }, { ...token, symbol: {} }, { ...token, decimals: 256 },
  { ...token, decimals: -1 }, { ...token, decimals: '6' }, { ...token, logoURI: 1 }, { ...token, logoURI: null }
])('the entry %j is dropped, counted and spoils nothing', bad => {
  expect(parseTokens(bad, token)).toEqual({ entries: [entry], dropped: 1 })
}) // biome-ignore format: a table

test('extensions, tags and whatever else is there are not looked at', () => {
  const odd = JSON.stringify(token).replace(
    '{',
    '{"__proto__":{"symbol":"EVIL"},"constructor":1,"tags":[[]],"extensions":{"bridgeInfo":{"10":{"tokenAddress":{}}}},'
  )
  const { entries, dropped } = parse(`{"name":"A","version":"none","tokens":[${odd}],"tokenMap":{"a":1}}`)
  expect({ entries, dropped }).toEqual({ entries: [entry], dropped: 0 })
  expect(Object.getPrototypeOf(entries[0])).toBe(Object.prototype)
})

test('names are display text, and may be empty', () => {
  const { entries } = parseTokens({ ...token, name: '\u202eUSD\u200b Coin ', symbol: '', logoURI: undefined })
  expect(entries).toEqual([{ chainId: 1, address: entry.address, name: 'USD Coin', symbol: '' }])
})

test.each([
  ['no JSON', '{'],
  ['an array', [token]],
  ['without a name', { tokens: [token] }],
  ['without tokens', { name: 'A' }],
  ['tokens as an object', { name: 'A', tokens: { a: token } }],
  ['over 100,000 entries', { name: 'A', tokens: Array(100_001).fill(0) }],
  ['nested deeper than 64', `{"name":"A","tokens":${'['.repeat(65)}${']'.repeat(65)}}`]
])('a list that is %s is refused', (_what, list) => {
  expect(() => parse(list)).toThrow(expect.objectContaining({ context: { reason: 'CONTENT' } }))
})
