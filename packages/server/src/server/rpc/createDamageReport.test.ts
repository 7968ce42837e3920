import { IndexDamagedError } from '@chain-data/index'
import { expect, it } from 'vitest'
import { silentLogger } from '../../platform/logger.ts'
import { createCounts } from '../metrics/counts.ts'
import { createDamageReport } from './createDamageReport.ts'

it('counts each call that meets damage, and logs each damage once with its chain and block', () => {
  const logged: unknown[] = []
  const logger = { ...silentLogger, error: (_: string, fields?: object) => logged.push(fields) }
  const counts = createCounts()
  const report = createDamageReport({ logger, counts })
  const damage = new IndexDamagedError({ part: 'record', block: 7 }, 'its checksum differs')
  report(damage, 1)
  report(damage, 1)
  report(damage, 5)
  report(new Error('other'), 1)
  expect(counts.damages).toEqual(
    new Map([
      [1, new Map([['record', 2]])],
      [5, new Map([['record', 1]])]
    ])
  )
  expect(logged).toEqual([
    { chainId: 1, blockNumber: 7, error: damage },
    { chainId: 5, blockNumber: 7, error: damage }
  ])
})
