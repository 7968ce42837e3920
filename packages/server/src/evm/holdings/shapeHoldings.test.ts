import { checkResult } from '@chain-data/protocol/validators'
import { expect, test } from 'vitest'
import { createAddressFormat } from '../../platform/addressFormat.ts'
import type { EvmHoldingsAtBlock } from './holdings.ts'
import { shapeHoldings } from './shapeHoldings.ts'

const address = '0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48'
const checksummed = '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48'
const maxUint = 2n ** 256n - 1n
const nothing: EvmHoldingsAtBlock = {
  asOf: { number: 7, hash: `0x${'ab'.repeat(32)}`, timestampSeconds: 1_700_000_000 },
  nativeWei: 0n,
  tokens: [],
  nfts: [],
  incomplete: []
}
const nft = {
  address,
  standard: 'erc1155',
  tokenId: maxUint,
  balance: 3n,
  tokenUri: 'https://a.art/{id}',
  name: 'Things',
  symbol: 'T'
} as const
const formatAddress = createAddressFormat()
const extras = { metadata: [], listed: () => undefined, judge: () => undefined, formatAddress }

test('nothing held has no `incomplete`', () => {
  expect(shapeHoldings(nothing, extras)).toEqual({
    native: '0',
    tokens: [],
    nfts: [],
    asOf: { blockNumber: 7, blockHash: `0x${'ab'.repeat(32)}`, timestamp: 1_700_000_000 }
  })
})

test('amounts keep every digit, addresses get their checksum', () => {
  const token = { address, amount: maxUint, decimals: 255, name: 'A', symbol: 'B' } as const
  const answer = shapeHoldings(
    {
      ...nothing,
      nativeWei: maxUint,
      tokens: [token],
      nfts: [nft],
      incomplete: [{ address, tokenId: 0n, reason: 'OWNER_UNREADABLE' }]
    },
    {
      ...extras,
      metadata: [{ data: { name: 'One' }, image: 'https://a.art/1.png' }],
      listed: asked => ({ name: 'Not this', symbol: 'NOT', image: `https://logos.art/${asked}` })
    }
  )
  expect(answer.native).toBe(maxUint.toString())
  expect(answer.tokens).toEqual([
    {
      address: checksummed,
      amount: maxUint.toString(),
      decimals: 255,
      name: 'A',
      symbol: 'B',
      image: `https://logos.art/${address}`
    }
  ])
  expect(answer.nfts).toEqual([
    {
      address: checksummed,
      isSemiFungible: true,
      tokenId: maxUint.toString(),
      tokenBalance: '3',
      tokenURI: 'https://a.art/{id}',
      name: 'One',
      symbol: 'T',
      image: 'https://a.art/1.png',
      data: { name: 'One' }
    }
  ])
  expect(answer.incomplete).toEqual([{ address: checksummed, tokenId: '0', reason: 'OWNER_UNREADABLE' }])
  expect(checkResult('svc_getTokensAndNFTs', answer)).toBeUndefined()
})

test.each([
  [{ name: 'Own' }, 'Own'],
  [{ name: '\u202eevil\u200b' }, 'evil'],
  [{ name: '' }, 'Things'],
  [{ name: 5 }, 'Things'],
  [{}, 'Things']
])('metadata %j: the NFT is called %j, its data stays as it is', (data, name) => {
  const answer = shapeHoldings({ ...nothing, nfts: [nft] }, { ...extras, metadata: [{ data, image: '' }] })
  expect(answer.nfts[0]).toMatchObject({ name, image: '' })
  expect(answer.nfts[0]?.data).toBe(data)
})

test('an NFT without its metadata is listed, and said to be incomplete only if it should have some', () => {
  const answer = shapeHoldings({ ...nothing, nfts: [nft, { ...nft, tokenId: 1n, tokenUri: '' }] }, extras)
  expect(answer.nfts.map(({ data, image, name }) => ({ data, image, name }))).toEqual(
    Array(2).fill({ data: {}, image: '', name: 'Things' })
  )
  expect(answer.incomplete).toEqual([
    { address: checksummed, tokenId: maxUint.toString(), reason: 'METADATA_UNAVAILABLE' }
  ])
})

test('a token list names what the contract does not, field by field', () => {
  const token = { address, amount: 1n, decimals: 0, name: '', symbol: 'OWN' } as const
  const listed = () => ({ name: 'Listed', symbol: 'LIST', image: '' })
  const answer = shapeHoldings({ ...nothing, tokens: [token] }, { ...extras, listed })
  expect(answer.tokens).toMatchObject([{ name: 'Listed', symbol: 'OWN', image: '' }])
})

test('a verdict stands beside the token or NFT it is about; without one there is no key', () => {
  const judged: unknown[] = []
  const answer = shapeHoldings(
    {
      ...nothing,
      tokens: [{ address, amount: 1n, decimals: 0, name: 'A', symbol: 'B', hidesCharacters: true }],
      nfts: [nft, { ...nft, tokenId: 1n }]
    },
    {
      ...extras,
      metadata: [{ data: { name: '\u200bOne' }, image: '' }, undefined],
      judge: asset => {
        judged.push(asset)
        return asset.title === '' ? undefined : { verdict: 'suspicious', reasons: ['NAME_HAS_URL'] }
      }
    }
  )
  const spam = { verdict: 'suspicious', reasons: ['NAME_HAS_URL'] }
  expect(answer.tokens[0]).toMatchObject({ spam })
  expect(answer.tokens[0]).not.toHaveProperty('hidesCharacters')
  expect(answer.nfts[0]).toMatchObject({ spam })
  expect(answer.nfts[1]).not.toHaveProperty('spam')
  // The name is judged as its author wrote it.
  expect(judged).toMatchObject([
    { address, name: 'A', hidesCharacters: true },
    { title: '\u200bOne', name: 'Things' },
    { title: '' }
  ])
  expect(checkResult('svc_getTokensAndNFTs', answer)).toBeUndefined()
})
