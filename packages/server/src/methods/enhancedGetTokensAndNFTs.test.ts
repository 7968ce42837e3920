import type { EnhancedTokensAndNFTsParams } from '@chain-data/protocol'
import { describe, expect, it } from 'vitest'
import { normalizeParams } from './enhancedGetTokensAndNFTs.ts'

const accountAddress = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA'

describe('the params of enhancedGetTokensAndNFTs', () => {
  it.each<[EnhancedTokensAndNFTsParams, boolean]>([
    [[{ accountAddress }], false],
    [[accountAddress], false],
    [[accountAddress, {}], false],
    [[accountAddress, { parseMetadataUri: true }], true],
    [[accountAddress, { parseMetadataUri: false }], false],
    [[{ accountAddress, parseMetadataUri: true }], true],
    [[{ accountAddress }, { parseMetadataUri: true }], true],
    [[{ accountAddress }, { options: { parseMetadataUri: true } }], true],
    [[{ accountAddress }, { options: {} }], false]
  ])('%j mean the same address, and say whether URIs are parsed', (params, parseMetadataUri) => {
    const addressPath = typeof params[0] === 'string' ? '/params/0' : '/params/0/accountAddress'
    expect(normalizeParams(params)).toEqual({ accountAddress, addressPath, parseMetadataUri })
  })
})
