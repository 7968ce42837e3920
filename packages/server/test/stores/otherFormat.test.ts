import { existsSync, readFileSync } from 'node:fs'
import { openIndexToReset, openStoreReader, openStoreWriter } from '@chain-data/index'
import {
  buildChain,
  chainFiles,
  chainSchema,
  commitChain,
  formatOf,
  hashOf,
  people,
  postgresIndexTables as postgresTables,
  queryOnce,
  readHistory,
  sqliteIndexTables as sqliteTables,
  withSnapshot
} from '@chain-data/index/test'
import { afterEach, describe, expect, it } from 'vitest'
import { damageIndex } from '../healing/damageIndex.ts'
import { type Engine, engines, type TestStore } from '../support/testStores.ts'

const identity = { chainId: 31_337, genesisHash: hashOf('genesis') }
const { chainId } = identity
const alice = people[0]!
const blocks = buildChain(Array.from({ length: 4 }, (_, i) => [{ name: `tx ${i}`, parties: [alice] }]))
const cleanUps: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

/** Everything that is stored, in whatever order. */
async function everything({ location }: TestStore): Promise<unknown> {
  if (location.kind === 'sqlite') {
    const { database, aside } = chainFiles(location.folder, chainId)
    return [database, aside].map(file => (existsSync(file) ? readFileSync(file).toString('base64') : ''))
  }
  if (location.kind !== 'postgres') throw new Error('expected an engine')
  const tables = await queryOnce(
    location.url,
    `SELECT oid::regclass::text AS name FROM pg_class WHERE relnamespace = '${chainSchema(chainId)}'::regnamespace AND relkind = 'r'`
  )
  const rows = tables.map(({ name }) => queryOnce(location.url, `SELECT * FROM ${name}`))
  return [tables, await Promise.all(rows)]
}

const own = { sqlite: formatOf(sqliteTables), postgres: formatOf(postgresTables) }
const names = { sqlite: `evm-${chainId}.sqlite`, postgres: chainSchema(chainId) }
const setFormat = { sqlite: 'PRAGMA user_version = 7', postgres: 'UPDATE store_format SET format = 7' }
const forgetFormat = { sqlite: 'PRAGMA user_version = 0', postgres: 'DROP TABLE store_format' }

const cases = engines.flatMap(engine => [
  { engine, what: 'has another format', sql: setFormat[engine.name], found: 'its format is 7' },
  { engine, what: 'names no format', sql: forgetFormat[engine.name], found: 'it names no format' }
])

describe.each(cases)('a store in $engine.name that $what', ({ engine, sql, found }) => {
  async function open(): Promise<TestStore> {
    const store = await engine.create()
    cleanUps.push(store.remove)
    const writer = await openStoreWriter(store.location, identity)
    await commitChain(writer, blocks)
    await writer.close()
    return store
  }
  const refused = `chain ${chainId}: the store ${names[engine.name]} was written by another build: ${found}, and this build reads and writes format ${own[engine.name]}. Begin it anew with \`chain-data reset ${chainId}\``

  it('is refused by writers and readers, and stays as it is', async () => {
    const store = await open()
    const reader = await openStoreReader(store.location, chainId)
    cleanUps.push(() => reader.close())
    await withSnapshot(reader, async snapshot => expect(await readHistory(snapshot, alice)).toHaveLength(4))
    await damageIndex(store.location, sql)
    const before = await everything(store)
    await expect(openStoreWriter(store.location, identity)).rejects.toThrow(refused)
    const other = { ...identity, genesisHash: hashOf('other') }
    await expect(openStoreWriter(store.location, other, { keepsOtherAside: true })).rejects.toThrow(refused)
    await expect(openStoreReader(store.location, chainId)).rejects.toThrow(refused)
    // One that was open before may find the old store gone first.
    await reader.openSnapshot().catch(() => undefined)
    await expect(reader.openSnapshot()).rejects.toThrow(refused)
    expect(await everything(store)).toEqual(before)
  })

  it('is begun anew by a reset', async () => {
    const store = await open()
    await damageIndex(store.location, sql)
    const index = await openIndexToReset(store.location, chainId)
    await index?.keepAside()
    await index?.close()
    const writer = await openStoreWriter(store.location, identity)
    cleanUps.push(() => writer.close())
    expect((await writer.state()).head).toBeUndefined()
    await commitChain(writer, blocks)
  })
})

/** The SQL that makes a table where an index should be. */
async function holdSomethingElse({ location }: TestStore): Promise<void> {
  if (location.kind === 'postgres') await queryOnce(location.url, `CREATE SCHEMA ${chainSchema(chainId)}`)
  await damageIndex(location, 'CREATE TABLE recipes (name TEXT)')
}

it.each<Engine>(engines)(
  'what is no index, in $name, is refused, and kept aside by a reset',
  async engine => {
    const store = await engine.create()
    cleanUps.push(store.remove)
    await holdSomethingElse(store)
    const refused = `the store ${names[engine.name]} was written by another build: it names no format`
    await expect(openStoreWriter(store.location, identity)).rejects.toThrow(refused)
    await damageIndex(store.location, "INSERT INTO recipes VALUES ('bread')")
    const index = await openIndexToReset(store.location, chainId)
    await index?.keepAside()
    await index?.close()
    const writer = await openStoreWriter(store.location, identity)
    cleanUps.push(() => writer.close())
    await commitChain(writer, blocks)
  }
)
