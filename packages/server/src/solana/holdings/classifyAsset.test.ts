import { describe, expect, it } from 'vitest'
import type { AssetMetadata, EmbeddedMetadata, MetaplexMetadata } from '../accounts/assetMetadata.ts'
import { classifyAsset } from './classifyAsset.ts'

const described = {
  ...{ mint: 'mint', name: '', symbol: '', uri: '', sellerFeeBasisPoints: 0, creators: [], isMutable: true }
}
const embedded: EmbeddedMetadata = { kind: 'token2022', ...described }
const unset: MetaplexMetadata = {
  ...{ kind: 'metaplex', key: 4, updateAuthority: 'authority', primarySaleHappened: false },
  ...described
}
const standard = (tokenStandard: NonNullable<MetaplexMetadata['tokenStandard']>): AssetMetadata => ({
  ...unset,
  tokenStandard
})

const one = { decimals: 0, supply: 1n }
const many = { decimals: 0, supply: 2n }
const divisible = { decimals: 1, supply: 1n }

describe('the class of an asset', () => {
  it.each([
    'NonFungible',
    'NonFungibleEdition',
    'ProgrammableNonFungible',
    'ProgrammableNonFungibleEdition'
  ] as const)('is nft for the standard %s, whatever the mint says', name => {
    for (const mint of [one, many, divisible]) expect(classifyAsset(mint, standard(name))).toBe('nft')
  })

  it('is semi-fungible for FungibleAsset and token for Fungible, even for a single whole unit', () => {
    for (const mint of [one, many, divisible]) {
      expect(classifyAsset(mint, standard('FungibleAsset'))).toBe('semiFungible')
      expect(classifyAsset(mint, standard('Fungible'))).toBe('token')
    }
  })

  it.each([
    ['Metaplex without a standard', unset],
    ['Token-2022', embedded]
  ])('follows decimals and supply with metadata of %s', (_what, metadata) => {
    expect(classifyAsset(one, metadata)).toBe('nft')
    expect(classifyAsset(many, metadata)).toBe('semiFungible')
    expect(classifyAsset({ decimals: 0, supply: 2n ** 64n - 1n }, metadata)).toBe('semiFungible')
    expect(classifyAsset(divisible, metadata)).toBe('token')
    // All burnt: there is none of it that could be held.
    expect(classifyAsset({ decimals: 0, supply: 0n }, metadata)).toBe('token')
  })

  it('is token without metadata, even for a single whole unit', () => {
    expect(classifyAsset(one, undefined)).toBe('token')
  })
})
