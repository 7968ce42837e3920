import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { waivableCheckNames } from '../../../model/waivableChecks.ts'
import { type Logger, silentLogger } from '../../../platform/logger.ts'
import { createWaivers, noWaivers } from './contradiction.ts'

describe('the waivers of a chain', () => {
  const list = [
    { check: 'logsBloom', reason: 'early trouble', fromBlock: 5, toBlock: 7 },
    { check: 'logsBloom', reason: 'late trouble', fromBlock: 10, toBlock: null },
    { check: 'logIndex', reason: 'always' }
  ] as const

  it('let a check pass in the blocks they name, both ends included, and nowhere else', () => {
    const waivers = createWaivers(list)
    const passing = Array.from({ length: 13 }, (_, i) => i).filter(i => waivers.passes('logsBloom', i))
    expect(passing).toEqual([5, 6, 7, 10, 11, 12])
    expect(waivers.passes('logIndex', 0)).toBe(true)
    expect(waivers.passes('emptyBloom', 6)).toBe(false)
    expect(noWaivers.passes('logIndex', 0)).toBe(false)
  })

  it('tell of the first use of each check, and count the others at debug', () => {
    const lines: unknown[] = []
    const logger: Logger = {
      ...silentLogger,
      info: (message, fields) => lines.push(['info', message, fields]),
      debug: (message, fields) => lines.push(['debug', message, fields])
    }
    const waivers = createWaivers(list, logger)
    waivers.passes('logsBloom', 4)
    waivers.passes('logsBloom', 6)
    waivers.passes('logsBloom', 11)
    waivers.passes('logIndex', 11)
    expect(lines).toEqual([
      ['info', 'the waiver logsBloom is needed', { blockNumber: 6, reason: 'early trouble', count: 1 }],
      ['debug', 'the waiver logsBloom is used', { blockNumber: 11, reason: 'late trouble', count: 2 }],
      ['info', 'the waiver logIndex is needed', { blockNumber: 11, reason: 'always', count: 1 }]
    ])
  })

  it('are all in the documentation, and no others', () => {
    const page = fileURLToPath(new URL('../../../../../../docs/configuration.md', import.meta.url))
    const section = readFileSync(page, 'utf8').split('\n## Waivers\n')[1]?.split('\n## ')[0] ?? ''
    const rows = [...section.matchAll(/^\| `(\w+)` \| \S/gm)].map(([, name]) => name)
    expect(rows).toEqual(waivableCheckNames)
  })
})
