import { describe, expect, it } from 'vitest'
import { waivableCheckNames } from '../../src/model/waivableChecks.ts'
import { ConfigError } from '../../src/platform/errors.ts'
import { parseConfig } from '../../src/server/config/config.ts'

function parse(...waivers: unknown[]) {
  return parseConfig({
    projects: [{ projectId: 'demo', serverKey: 'demo-server-key' }],
    chains: { evm: [{ chainId: 31337, rpcUrls: ['http://127.0.0.1:8545'], waivers }] }
  })
}

function refusal(...waivers: unknown[]): string {
  try {
    parse(...waivers)
  } catch (error) {
    if (error instanceof ConfigError) return error.message
    throw error
  }
  return 'accepted'
}

describe('the waivers of a configuration', () => {
  it('need a check and a reason; the range is everything by default', () => {
    const [chain] = parse({ check: 'logsBloom', reason: 'state sync' }).chains.evm
    expect(chain?.waivers).toEqual([
      { check: 'logsBloom', reason: 'state sync', fromBlock: 0, toBlock: null, source: null }
    ])
  })

  it('are none by default', () => {
    expect(parse().chains.evm[0]?.waivers).toEqual([])
  })

  it('are refused by an unknown name with the list of known ones', () => {
    const message = refusal({ check: 'bloom', reason: 'because' })
    expect(message).toContain('chains.evm[0].waivers[0].check is "bloom"')
    for (const name of waivableCheckNames) expect(message).toContain(`"${name}"`)
  })

  it.each([undefined, '', '  ', 7])('are refused with %j for a reason', reason => {
    expect(refusal({ check: 'logsBloom', reason })).toContain('chains.evm[0].waivers[0].reason')
  })

  it('are refused with a range that ends before it begins, and with unknown keys', () => {
    const waiver = { check: 'logsBloom', reason: 'because' }
    expect(refusal({ ...waiver, fromBlock: 9, toBlock: 8 })).toContain(
      'chains.evm[0].waivers[0].toBlock is 8'
    )
    expect(refusal({ ...waiver, from: 9 })).toContain('chains.evm[0].waivers[0].from is not a key')
    expect(refusal({ ...waiver, fromBlock: 8, toBlock: 8 })).toBe('accepted')
  })
})
