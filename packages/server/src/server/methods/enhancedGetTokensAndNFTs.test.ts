import type { EnhancedTokensAndNFTsParams } from '@chain-data/protocol'
import { describe, expect, it } from 'vitest'
import { createEnhancedGetTokensAndNFTs } from './enhancedGetTokensAndNFTs.ts'

const accountAddress = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA'

const nobodyAsks = () => {
  throw new Error('nothing is to be read for it')
}
const context = { chainId: 103, signal: new AbortController().signal, deadlineMs: Date.now() + 25_000 }

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
  ])('%j mean the same address, and say whether URIs are parsed', async (params, parseMetadataUri) => {
    const asked: string[] = []
    const documents: unknown[] = []
    const holdings = { lamports: 0n, nfts: [], tokens: [], incomplete: [], asOf: { slot: 1 } }
    const method = createEnhancedGetTokensAndNFTs({
      chains: new Map([
        [
          103,
          {
            holdings: {
              async readHoldings(query) {
                asked.push(query.accountAddress)
                return holdings
              }
            }
          }
        ]
      ]),
      async readDocuments(requests) {
        documents.push(requests)
        return []
      },
      metadataWaitMs: 3_000
    })
    await method(params, context)
    expect(asked).toEqual([accountAddress])
    expect(documents).toEqual(parseMetadataUri ? [[]] : [])
  })
})

describe('an address that only looks like one', () => {
  const method = createEnhancedGetTokensAndNFTs({
    chains: new Map([[103, { holdings: { readHoldings: nobodyAsks } }]]),
    readDocuments: nobodyAsks,
    metadataWaitMs: 3_000
  })

  it.each<[EnhancedTokensAndNFTsParams, string]>([
    // 44 times the largest digit is far beyond 32 bytes; 32 ones and a two are 33 of them.
    [['z'.repeat(44)], '/params/0'],
    [[`${'1'.repeat(32)}2`], '/params/0'],
    [[{ accountAddress: 'z'.repeat(44) }], '/params/0/accountAddress']
  ])('is refused with its path: %j', async (params, path) => {
    await expect(method(params, context)).rejects.toMatchObject({ reason: 'INVALID_PARAMS', data: { path } })
  })
})
