import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createTestDatabase } from '../../test/support/startPostgres.ts'
import { StoreUnavailableError } from '../platform/errors.ts'
import { StoreInUseError } from '../port/writer.ts'
import type { ReadTransaction, WritableStore } from '../runs/Transaction.ts'
import { chainStore } from '../store/format.ts'
import { describeTransaction } from '../store/transaction.contract.ts'
import { ReadConnection } from './connection.ts'
import { type Client, connect } from './driver.ts'
import { indexTables } from './indexTables.ts'
import { beginTerm } from './lock.ts'
import { makeTables } from './makeTables.ts'
import { chainSchema } from './schema.ts'
import { WriterSession } from './session.ts'
import { beginRead, createReadTransaction, createWritableStore } from './transaction.ts'

const chainId = 31337
const schema = chainSchema(chainId)
/** Databases whose store was disposed of: making one takes longer than emptying one. */
const emptied: string[] = []

async function openStore() {
  const url = emptied.pop() ?? (await createTestDatabase())
  const client = await connect(url, 'writer')
  await makeTables(client, schema, indexTables, chainStore(chainId, schema))
  const store = createWritableStore(new WriterSession(client, await beginTerm(client), 60_000), chainId)
  const connection = await ReadConnection.open(url, 60_000, () => {})
  const read = async <T>(work: (transaction: ReadTransaction) => Promise<T>): Promise<T> => {
    await beginRead(connection, schema, { answerMs: 60_000, idleMs: 60_000 }, 'SELECT 1 AS one')
    const result = await work(createReadTransaction(connection, schema))
    await connection.run('ROLLBACK')
    return result
  }
  const dispose = async () => {
    connection.drop()
    await store.close().catch(() => {})
    const other = await connect(url, 'check')
    await other.query(`DROP SCHEMA ${schema} CASCADE`)
    await other.end()
    emptied.push(url)
  }
  return { url, client, store, connection, read, dispose }
}

describeTransaction('postgres', openStore)

describe('a transaction in PostgreSQL', () => {
  let place: Awaited<ReturnType<typeof openStore>>
  let store: WritableStore
  let other: Client
  beforeEach(async () => {
    place = await openStore()
    store = place.store
    other = await connect(place.url, 'check')
    await other.query(`SET search_path = ${schema}`)
  })
  afterEach(async () => {
    await other.end()
    await place.dispose()
  })

  const putChunk = (number: number, run = 1) =>
    store.write(transaction =>
      transaction.putChunks([
        { run, section: 0, number, lower: Uint8Array.of(number), bytes: Uint8Array.of(number) }
      ])
    )
  const stored = async () => (await other.query('SELECT number FROM chunk ORDER BY number')).rows

  it('stores nothing after another writer has taken over, and says so from then on', async () => {
    await putChunk(0)
    await beginTerm(other)
    await expect(putChunk(1)).rejects.toThrow(StoreInUseError)
    await expect(store.reads.all('SELECT id FROM meta')).rejects.toThrow(StoreInUseError)
    expect(await stored()).toEqual([{ number: 0 }])
  })

  it('keeps the term until it ends', async () => {
    let taken: Promise<number> | undefined
    let isTaken = false
    await store.write(async transaction => {
      await transaction.all('SELECT id FROM meta')
      taken = beginTerm(other).finally(() => {
        isTaken = true
      })
      await transaction.all('SELECT pg_sleep(0.05)')
      expect(isTaken).toBe(false)
    })
    expect(await taken).toBe(2)
  })

  it('stores nothing when its connection is lost', async () => {
    const lost = store.write(async transaction => {
      await transaction.run('DELETE FROM chunk')
      const [row] = await transaction.all<{ pid: number }>('SELECT pg_backend_pid() AS pid')
      await other.query('SELECT pg_terminate_backend($1)', [row?.pid])
      await transaction.all('SELECT id FROM meta')
    })
    await expect(lost).rejects.toThrow(StoreUnavailableError)
    await expect(putChunk(0)).rejects.toThrow(StoreUnavailableError)
    expect(await stored()).toEqual([])
  })

  it('is not stored after a read that failed, also where its work goes on', async () => {
    const failed = store.write(async transaction => {
      await transaction.run('INSERT INTO run VALUES (?, ?)', [1, Uint8Array.of(1)])
      await transaction.all('SELECT unknown FROM meta').catch(() => {})
      await transaction.run('INSERT INTO run VALUES (?, ?)', [2, Uint8Array.of(1)])
      await transaction.all('SELECT number FROM run').catch(() => {})
    })
    await expect(failed).rejects.toThrow('"unknown" does not exist')
    expect((await other.query('SELECT FROM run')).rowCount).toBe(0)
    // Not awaited either.
    const unawaited = store.write(async transaction => {
      await transaction.run('INSERT INTO run VALUES (?, ?)', [1, Uint8Array.of(1)])
      void transaction.all('SELECT unknown FROM meta').catch(() => {})
    })
    await expect(unawaited).rejects.toThrow('"unknown" does not exist')
    expect((await other.query('SELECT FROM run')).rowCount).toBe(0)
    await putChunk(0)
    expect(await stored()).toEqual([{ number: 0 }])
  })

  it('takes nothing more from work that was left behind by a failure', async () => {
    let late: Promise<unknown> | undefined
    const failed = store.write(async transaction => {
      late = transaction
        .all('SELECT number FROM run')
        .then(() => transaction.run('INSERT INTO run VALUES (?, ?)', [1, Uint8Array.of(1)]))
        .then(() => transaction.all('SELECT number FROM run'))
        .catch((error: unknown) => error)
      throw new Error('no more')
    })
    await expect(failed).rejects.toThrow('no more')
    expect(await late).toEqual(new Error('the transaction is over'))
    expect((await other.query('SELECT FROM run')).rowCount).toBe(0)
  })

  it('takes nothing once it is over', async () => {
    const transaction = await store.write(async open => open)
    await expect(transaction.run('DELETE FROM run')).rejects.toThrow('is over')
    await expect(transaction.all('SELECT number FROM run')).rejects.toThrow('is over')
    await putChunk(0)
    expect(await stored()).toEqual([{ number: 0 }])
  })

  it('refuses a number that the server would round', async () => {
    const rounded = store.write(transaction => transaction.run('DELETE FROM run WHERE number = ?', [0.5]))
    await expect(rounded).rejects.toThrow('0.5 cannot be stored; expected a whole number')
  })

  it('takes a round trip for what is written, and one more for each read', async () => {
    const send = place.client.query
    let trips = 0
    place.client.query = ((...values: Parameters<typeof send>) => {
      trips++
      return send.apply(place.client, values)
    }) as typeof send
    await putChunk(0)
    expect(trips).toBe(1)
    trips = 0
    await store.write(async transaction => {
      await transaction.run('DELETE FROM run')
      await transaction.find([{ run: 1, section: 0, key: Uint8Array.of(0) }])
      await transaction.run('DELETE FROM run')
      await transaction.insert('run', ['number', 'rec'], [[1, Uint8Array.of(1)]])
    })
    expect(trips).toBe(2)
  })

  it('refuses values that are not those of the placeholders', async () => {
    for (const values of [[], [1, 2]]) {
      const failed = store.write(transaction => transaction.run('DELETE FROM run WHERE number = ?', values))
      await expect(failed).rejects.toThrow(`a statement has 1 placeholders and ${values.length} values`)
    }
  })

  it('is read by plans that walk the key, also when they were made while nothing was stored', async () => {
    const searches = [5, 6, 100, 7].map(run => ({ run, section: 0, key: Uint8Array.of(255) }))
    const readAll = async (reads: ReadTransaction) => {
      const numbers = (await reads.find(searches)).map(chunk => chunk?.number)
      const scanned = await reads.scan(5, 0, Uint8Array.of(1), 2)
      const records = await reads.recordsOf([1, 2])
      return [numbers, scanned.map(({ number }) => number), 'missing' in records]
    }
    expect(await place.read(readAll)).toEqual([searches.map(() => undefined), [], true])
    await other.query(`INSERT INTO chunk SELECT n % 100, n / 100, 0, decode(lpad(to_hex(n / 100), 4, '0'), 'hex'), 'bytes'
      FROM generate_series(0, 29999) AS n; INSERT INTO tx SELECT n, 'record' FROM generate_series(1, 9999) AS n`)
    await place.read(async reads => {
      expect(await readAll(reads)).toEqual([[299, 299, undefined, 299], [256, 257], false])
      const plans = await Promise.all(
        ['%wanted.key%', '%lower >= %', '%tx.id%'].map(async like => {
          const [[statement] = []] = await place.connection.run(
            `SELECT name, cardinality(parameter_types) AS values FROM pg_prepared_statements WHERE statement LIKE '${like}'`
          )
          const values = Array.from({ length: Number(statement?.values) }, () => 'NULL')
          const [lines = []] = await place.connection.run(
            `EXPLAIN (COSTS off) EXECUTE "${statement?.name}" (${values})`
          )
          return lines.map(line => line['QUERY PLAN']).join('\n')
        })
      )
      expect(plans[0]).toMatch(/Nested Loop.*Function Scan.*Limit\n.*Index Scan Backward using chunk_pkey/s)
      expect(plans[1]).toMatch(/Limit\n.*Index Scan using chunk_pkey/)
      expect(plans[2]).toMatch(/Nested Loop.*Function Scan.*Index Scan using tx_pkey/s)
      expect(plans.join()).not.toMatch(/Seq Scan|Sort/)
    })
  })
})
