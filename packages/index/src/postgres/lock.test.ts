import { afterEach, beforeEach, expect, it } from 'vitest'
import { patient } from '../../../../.config/patience.ts'
import { createTestDatabase } from '../../test/support/startPostgres.ts'
import { StoreInUseError } from '../port/writer.ts'
import { type Client, connect, drop } from './driver.ts'
import { takeLeadership } from './lock.ts'

const chainId = 7

let first: Client
let second: Client
beforeEach(async () => {
  const url = await createTestDatabase()
  first = await connect(url, 'writer')
  second = await connect(url, 'writer')
  await takeLeadership(first, chainId, { lockWaitMs: 0, silentMs: 60_000 })
})
afterEach(() => {
  drop(first)
  drop(second)
})

it('once a writer has its place, it waits for other locks as long as it takes', async () => {
  const taken = takeLeadership(second, chainId, { lockWaitMs: 20_000, silentMs: 60_000 })
  const isWaiting = async () => {
    const { rows } = await first.query(
      `SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
       AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`
    )
    return rows.length
  }
  await expect.poll(isWaiting, { timeout: patient(10_000) }).toBe(1)
  await first.end()
  await taken
  const { rows } = await second.query('SHOW lock_timeout')
  expect(rows).toEqual([{ lock_timeout: '0' }])
})

it('a writer that the server works for is not silent, however long that takes', async () => {
  first.query('SELECT pg_sleep(60)').catch(() => {})
  const fenced: unknown[] = []
  const taken = takeLeadership(second, chainId, {
    ...{ lockWaitMs: 1_000, silentMs: 100 },
    onFenced: each => fenced.push(each)
  })
  await expect(taken).rejects.toThrow(StoreInUseError)
  expect(fenced).toEqual([])
})
