import { expect, it } from 'vitest'
import { devRoots } from '../../model/chainPresets.ts'
import { rootParts } from '../../model/rootParts.ts'
import { chooseRoots } from './chooseRoots.ts'
import { parseConfig } from './config.ts'

function rootsOf(chain: object) {
  const { chains } = parseConfig({
    projects: [{ projectId: 'demo', serverKey: 'demo-server-key' }],
    chains: { evm: [{ rpcUrls: ['http://127.0.0.1:8545'], ...chain }] }
  })
  return chains.evm.map(chooseRoots)[0]
}

it('verifies new blocks by default as far as the encoding of their chain is known', () => {
  for (const chainId of [1, 560_048, 11_155_111, 10, 8453, 42_161, 999, 4217]) {
    expect(rootsOf({ chainId })).toEqual({ parts: rootParts, blocks: 'head' })
  }
  for (const chainId of [1_337, 31_337]) {
    expect(rootsOf({ chainId })).toEqual({ parts: devRoots, blocks: 'head' })
  }
  for (const chainId of [998, 534_352, 424_242]) expect(rootsOf({ chainId })).toBeUndefined()
})

it('verifies what is known of a development node in a copy of a public chain', () => {
  expect(rootsOf({ chainId: 1, dev: true })).toEqual({ parts: devRoots, blocks: 'head' })
})

it('verifies more of old blocks, where the encoding of newer ones is not known', () => {
  expect(rootsOf({ chainId: 137 })).toEqual({
    parts: ['header', 'withdrawals', 'senders'],
    older: { toBlock: 80_084_799, parts: rootParts },
    blocks: 'head'
  })
})

it('verifies every block where it is asked to, and none where it is asked not to', () => {
  expect(rootsOf({ chainId: 1, verify: 'roots' })).toEqual({ parts: rootParts, blocks: 'all' })
  expect(rootsOf({ chainId: 31_337, verify: 'roots' })).toEqual({ parts: devRoots, blocks: 'all' })
  expect(rootsOf({ chainId: 424_242, verify: 'roots' })).toEqual({ parts: rootParts, blocks: 'all' })
  expect(rootsOf({ chainId: 1, verify: 'basic' })).toBeUndefined()
})
