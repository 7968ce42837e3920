import { describe, expect, it } from 'vitest'
import { chainPresets } from '../../model/chainPresets.ts'
import { knownExceptions } from '../../model/knownExceptions.ts'
import { rootParts } from '../../model/rootParts.ts'
import { describeChain, type EvmChain } from './applyPresets.ts'
import { parseConfig } from './config.ts'

function configure(chain: object) {
  return parseConfig({
    projects: [{ projectId: 'demo', serverKey: 'demo-server-key' }],
    chains: { evm: [{ rpcUrls: ['http://127.0.0.1:8545'], ...chain }] }
  })
}

const chainOf = (chain: object): EvmChain => configure(chain).chains.evm[0] as EvmChain

describe('the preset of a chain', () => {
  it('gives a chain that is known by its id its name, currency, explorer and waivers', () => {
    const chain = chainOf({ chainId: 25 })
    expect(chain).toMatchObject({
      name: 'Cronos',
      nativeCurrency: { name: 'Cronos', symbol: 'CRO', decimals: 18 },
      explorerUrl: 'https://explorer.cronos.org',
      dev: false
    })
    expect(chain.waivers.map(({ check }) => check)).toContain('unknownReceipt')
  })

  it('leaves a chain that is not known its number, and no currency is made up', () => {
    expect(chainOf({ chainId: 424_242 })).toMatchObject({
      name: 'Chain 424242',
      nativeCurrency: null,
      explorerUrl: null,
      dev: false,
      waivers: []
    })
  })

  it('gives way to the configuration, and its waivers are added to those of the configuration', () => {
    const own = { check: 'logsBloom', reason: 'my node', fromBlock: 7, toBlock: 9, source: null }
    const chain = chainOf({ chainId: 25, name: 'My Cronos', explorerUrl: 'http://mine/', waivers: [own] })
    expect(chain).toMatchObject({ name: 'My Cronos', explorerUrl: 'http://mine/' })
    expect(chain.nativeCurrency?.symbol).toBe('CRO')
    expect(chain.waivers).toEqual([own, ...chainOf({ chainId: 25 }).waivers])
  })

  it('is off when the configuration says so', () => {
    expect(chainOf({ chainId: 25, preset: false })).toMatchObject({ name: 'Chain 25', waivers: [] })
  })

  it.each([
    [{ chainId: 31_337 }, true],
    [{ chainId: 1_337, preset: false }, true],
    [{ chainId: 1 }, false],
    [{ chainId: 31_337, dev: false }, false],
    [{ chainId: 5, dev: true }, true]
  ])('tells a development chain by its id or the configuration: %j', (chain, dev) => {
    expect(chainOf(chain).dev).toBe(dev)
  })

  it('is merged once, also where a merged configuration is read again', () => {
    const merged = configure({ chainId: 25 })
    expect(parseConfig(merged)).toEqual(merged)
  })

  it('is described with each waiver, its blocks and its source', () => {
    const described = describeChain(chainOf({ chainId: 25 }))
    expect(described).toMatchObject({ chainId: 25, name: 'Cronos', preset: 'applied' })
    expect(described.waivers).toMatch(/unknownReceipt \(blocks 0 to 19999999\): .+ \[github\.com\/.+\]/)
    expect(describeChain(chainOf({ chainId: 25, preset: false }))).toEqual({
      chainId: 25,
      name: 'Chain 25',
      preset: 'off'
    })
    expect(describeChain(chainOf({ chainId: 424_242 })).preset).toBe('none is known')
  })

  it('is told with what of its blocks cannot be recomputed, unless it is recomputed all the same', () => {
    expect(describeChain(chainOf({ chainId: 42_161 })).unverified).toContain('type 0x78')
    expect(describeChain(chainOf({ chainId: 137 }))).toMatchObject({
      verified: 'header, withdrawals, senders of new blocks',
      unverified: expect.stringContaining('state syncs')
    })
    expect(describeChain(chainOf({ chainId: 137, verify: 'roots' })).verified).toBe(
      `header, withdrawals, senders of all blocks; ${rootParts.join(', ')} up to block 80084799`
    )
    expect(describeChain(chainOf({ chainId: 100 })).unverified).toContain('no recorded block')
    expect(describeChain(chainOf({ chainId: 534_352, verify: 'roots' }))).not.toHaveProperty('unverified')
    for (const chainId of [1, 31_337, 424_242]) {
      expect(describeChain(chainOf({ chainId }))).not.toHaveProperty('unverified')
    }
    for (const { roots, unknownEncoding } of chainPresets.values()) {
      if (roots?.length !== rootParts.length) expect(unknownEncoding).toBeDefined()
    }
  })
})

describe('the presets', () => {
  const all = [...chainPresets.values()]

  it('are one for each of the fifty chains with the most users, and for each known exception', () => {
    expect(all.length).toBeGreaterThanOrEqual(50)
    expect(all.map(({ chainId }) => chainId)).toEqual([...chainPresets.keys()].sort((a, b) => a - b))
    expect([...knownExceptions.keys()].filter(chainId => !chainPresets.has(chainId))).toEqual([])
  })

  it('are all valid in a configuration', () => {
    for (const {
      chainId,
      exceptions,
      ensRegistry: _,
      roots: __,
      olderRoots: ___,
      unknownEncoding: ____,
      ...words
    } of all) {
      const written = { chainId, preset: false, ...words, waivers: exceptions }
      expect({ ...chainOf(written), preset: true }).toEqual(chainOf({ chainId }))
    }
  })
})
