import { checkResult } from '@chain-data/protocol/validators'
import { describe, expect, it } from 'vitest'
import { formatSolanaAddress } from '../../nodes/solana/solanaAddress.ts'
import type { EmbeddedMetadata, MetaplexMetadata } from '../accounts/assetMetadata.ts'
import type { SolanaAccountHoldings } from './holdings.ts'
import { type FetchedUris, listMetadataUris, shapeHoldings } from './shapeHoldings.ts'

const [mint, account, authority] = [7, 8, 9].map(byte =>
  formatSolanaAddress(new Uint8Array(32).fill(byte))
) as [string, string, string]

const metaplex: MetaplexMetadata = {
  ...{ kind: 'metaplex', key: 4, updateAuthority: authority, mint, name: 'One', symbol: 'ONE' },
  ...{ uri: 'https://u.test/1', sellerFeeBasisPoints: 250, primarySaleHappened: true, isMutable: false },
  ...{ creators: [{ address: authority, verified: true, share: 100 }], editionNonce: 0 },
  ...{ tokenStandard: 'NonFungible', collection: { verified: true, key: authority } }
}
const embedded: EmbeddedMetadata = {
  ...{ kind: 'token2022', mint, name: 'Two', symbol: 'TWO', uri: '' },
  ...{ sellerFeeBasisPoints: 0, creators: [], isMutable: false }
}
const max = 2n ** 64n - 1n
const empty: SolanaAccountHoldings = {
  ...{ lamports: 0n, nfts: [], tokens: [], incomplete: [], asOf: { slot: 3 } }
}
const holdings: SolanaAccountHoldings = {
  ...{ lamports: max, asOf: { slot: 12 }, incomplete: [{ address: mint, reason: 'MINT_UNREADABLE' }] },
  nfts: [
    { address: account, mint, amount: 1n, isSemiFungible: false, metadata: metaplex },
    { address: account, mint, amount: 9n, isSemiFungible: true, metadata: embedded }
  ],
  tokens: [
    { address: account, mint, amount: max, decimals: 9 },
    { address: account, mint, amount: 1n, decimals: 0, metadata: { ...embedded, uri: 'https://u.test/2' } }
  ]
}
const asJson = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value, (_key, member) => (typeof member === 'bigint' ? Number(member) : member)))

describe('holdings on the wire', () => {
  it('carry every digit, as bigint and as text', () => {
    const { lamports, lamportsString, tokens } = shapeHoldings(holdings, new Map())
    expect([lamports, lamportsString]).toEqual([max, '18446744073709551615'])
    expect(tokens[0]).toMatchObject({
      amount: max,
      amountString: '18446744073709551615',
      name: '',
      symbol: ''
    })
  })

  it('show names without characters that one cannot see, and keep the strings of the chain beside them', () => {
    const name = 'U\u200bSDC\u202e'
    const disguised = { ...metaplex, name, symbol: '\u2066U' }
    const { nfts, tokens } = shapeHoldings(
      {
        ...empty,
        nfts: [{ address: account, mint, amount: 1n, isSemiFungible: false, metadata: disguised }],
        tokens: [{ address: account, mint, amount: 1n, decimals: 0, metadata: disguised }]
      },
      new Map()
    )
    expect(nfts[0]).toMatchObject({
      name: 'USDC',
      symbol: 'U',
      metadata: { data: { name, symbol: '\u2066U' } }
    })
    expect(tokens[0]).toMatchObject({ name: 'USDC', symbol: 'U' })
  })

  it('show Metaplex metadata with its nonce of 0 and without what the wire does not know', () => {
    expect(shapeHoldings(holdings, new Map()).nfts[0]).toStrictEqual({
      ...{ mint, address: account, isSemiFungible: false, name: 'One', symbol: 'ONE', image: '' },
      sellerFeeBasisPoints: 250,
      metadata: {
        ...{ key: 4, updateAuthority: authority, mint, primarySaleHappened: true, isMutable: false },
        editionNonce: 0,
        data: {
          ...{ name: 'One', symbol: 'ONE', uri: 'https://u.test/1', sellerFeeBasisPoints: 250 },
          creators: [{ address: authority, verified: true, share: 100 }]
        }
      }
    })
  })

  it('show Token-2022 metadata without the members that only Metaplex has', () => {
    expect(shapeHoldings(holdings, new Map()).nfts[1]?.metadata).toStrictEqual({
      ...{ mint, isMutable: false },
      data: { name: 'Two', symbol: 'TWO', uri: '', sellerFeeBasisPoints: 0, creators: [] }
    })
  })

  it('say how many of a semi-fungible asset there are', () => {
    const [one, several] = shapeHoldings(holdings, new Map()).nfts
    expect(one).not.toHaveProperty('amountString')
    expect(several).toMatchObject({ isSemiFungible: true, amountString: '9' })
  })

  it('say how an amount is to be shown, and leave it as it is', () => {
    const scaledUiAmount = { multiplier: 2.5, newMultiplier: 3, newMultiplierEffectiveTimestamp: -1 }
    const interestBearing = {
      ...{ initializationTimestamp: 1, preUpdateAverageRate: -5, lastUpdateTimestamp: 2, currentRate: 7 }
    }
    const shaped = shapeHoldings(
      {
        ...empty,
        tokens: [
          { address: account, mint, amount: 10n, decimals: 1, uiAmount: { scaledUiAmount, interestBearing } }
        ]
      },
      new Map()
    )
    expect(shaped.tokens[0]).toMatchObject({
      amount: 10n,
      amountString: '10',
      scaledUiAmount,
      interestBearing
    })
    expect(checkResult('enhancedGetTokensAndNFTs', asJson(shaped))).toBeUndefined()
  })

  it('take data and image from what was fetched, verbatim, and nothing from what was not', () => {
    const data = JSON.parse('{"name":"x","empty":null,"__proto__":1,"deep":[{"n":1}]}')
    const fetched: FetchedUris = new Map([
      ['https://u.test/1', { data, image: 'https://i.test/1.png' }],
      ['https://u.test/2', undefined]
    ])
    const { nfts, tokens } = shapeHoldings(holdings, fetched)
    expect(nfts[0]?.image).toBe('https://i.test/1.png')
    expect(nfts[0]?.metadata.data.uriData).toBe(data)
    expect(nfts[1]?.metadata.data).not.toHaveProperty('uriData')
    expect(tokens.map(token => token.image)).toEqual(['', ''])
  })

  it('fit the spec, full and empty', () => {
    const fetched: FetchedUris = new Map([['https://u.test/1', { data: {}, image: '' }]])
    for (const shaped of [shapeHoldings(holdings, fetched), shapeHoldings(empty, new Map())]) {
      expect(checkResult('enhancedGetTokensAndNFTs', asJson(shaped))).toBeUndefined()
    }
  })

  it('have no key for what is complete', () => {
    expect(shapeHoldings(empty, new Map())).toStrictEqual({
      ...{ lamports: 0n, lamportsString: '0', nfts: [], tokens: [], asOf: { slot: 3 } }
    })
  })
})

it('lists each metadata URI once, those of NFTs first', () => {
  const [nft] = holdings.nfts
  expect(listMetadataUris({ ...holdings, nfts: [...holdings.nfts, nft!] })).toEqual([
    'https://u.test/1',
    'https://u.test/2'
  ])
})
