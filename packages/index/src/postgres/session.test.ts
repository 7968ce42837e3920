import { expect, it } from 'vitest'
import { patient } from '../../../../.config/patience.ts'
import { createTestDatabase } from '../../test/support/startPostgres.ts'
import { StoreUnavailableError } from '../platform/errors.ts'
import { chainStore } from '../store/format.ts'
import { connect } from './driver.ts'
import { indexTables } from './indexTables.ts'
import { beginTerm } from './lock.ts'
import { makeTables } from './makeTables.ts'
import { chainSchema } from './schema.ts'
import { WriterSession } from './session.ts'

const chainId = 31337

it('ends with a heartbeat that the server cancels: the transaction that is open would be taken back without a word', async () => {
  const url = await createTestDatabase()
  const client = await connect(url, 'writer')
  await makeTables(client, chainSchema(chainId), indexTables, chainStore(chainId, chainSchema(chainId)))
  const term = await beginTerm(client)
  const query = client.query.bind(client) as (text: string, values?: unknown[]) => Promise<never>
  // One that lasts long enough to be cancelled.
  const slowBeat = (text: string, values?: unknown[]) =>
    query(text === 'SELECT 1' ? 'SELECT pg_sleep(60)' : text, values)
  Object.assign(client, { query: slowBeat })
  const session = new WriterSession(client, term, 20)
  const other = await connect(url, 'check')
  try {
    await session.send([session.begin])
    const cancel = async () => {
      const { rows } = await other.query<{ done: boolean }>(
        `SELECT pg_cancel_backend(pid) AS done FROM pg_stat_activity
         WHERE datname = current_database() AND query = 'SELECT pg_sleep(60)' AND state = 'active'`
      )
      return rows[0]?.done
    }
    await expect.poll(cancel, { timeout: patient(10_000), interval: 5 }).toBe(true)
    await expect(session.send(['COMMIT'])).rejects.toThrow(StoreUnavailableError)
  } finally {
    await session.close().catch(() => {})
    await other.end()
  }
})
