import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openStoreWriter } from '@chain-data/index'
import { createTestDatabase, type Postgres, queryOnce, startPostgres } from '@chain-data/index/test'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { checkPostgres, checkReplica } from '../../src/server/check/checkPostgres.ts'
import { checkStore } from '../../src/server/check/checkStore.ts'
import { type Config, type ConfigInput, parseConfig } from '../../src/server/config/config.ts'
import { runCommand } from './runCommand.ts'

const chainId = 31337
const identity = { chainId, genesisHash: `0x${'6e'.repeat(32)}` as const }
const cleanUps: (() => unknown)[] = []
/** As one would run it: nothing of it is unsafe. */
let sound: Postgres

beforeAll(async () => {
  sound = await startPostgres({
    dataChecksums: true,
    settings: { fsync: 'on', full_page_writes: 'on', synchronous_commit: 'on', max_connections: '40' }
  })
})
afterAll(() => sound?.stop())
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

function configure(store: string, changes: Partial<ConfigInput> = {}): Config {
  return parseConfig({
    // The port is nobody's, so nothing is asked there.
    ...{ store, listen: { port: 0 } },
    projects: [{ projectId: 'demo', serverKey: 'demo-server-key' }],
    chains: { evm: [{ chainId, rpcUrls: ['http://127.0.0.1:1'] }] },
    ...changes
  })
}

/** A user of the whole cluster, who may not make schemas in this database. */
async function createReader(url: string): Promise<string> {
  await queryOnce(url, "CREATE ROLE reader LOGIN PASSWORD 'hunter2'")
  cleanUps.push(() => queryOnce(url, 'DROP OWNED BY reader', 'DROP ROLE reader'))
  return url.replace('postgres@', 'reader:hunter2@')
}

const nobody = Promise.resolve(false)
const schemasIn = (url: string) =>
  queryOnce(url, "SELECT nspname FROM pg_namespace WHERE nspname LIKE 'chain%'")

describe('a PostgreSQL for the store', () => {
  it('is looked at without making or changing anything, whether or not it is written', async () => {
    const url = await sound.createDatabase()
    const config = configure(url)
    expect(await checkStore(config, nobody)).toEqual([
      {
        check: 'database',
        state: 'ok',
        found: expect.stringMatching(/^PostgreSQL \d+[\d.]*.*, encoding UTF8$/)
      },
      { check: 'shape', state: 'ok', found: 'plain PostgreSQL: every chain is on this machine' },
      { check: 'rights', state: 'ok', found: 'the user may make and write the schemas' },
      {
        check: 'connections',
        state: 'ok',
        found: expect.stringMatching(/^this server opens up to 19; \d+ of 37 are taken$/)
      },
      { check: `writer ${chainId}`, state: 'ok', found: 'nobody writes this index' },
      { check: `index ${chainId}`, state: 'ok', found: 'nothing is indexed yet' }
    ])
    expect(await schemasIn(url)).toEqual([])
    const writer = await openStoreWriter({ kind: 'postgres', url }, identity)
    expect((await checkStore(config, nobody)).at(-2)?.found).toBe('a running server writes this index')
    await writer.close()
    expect((await checkStore(config, nobody)).at(-2)?.found).toBe('nobody writes this index')
  })

  it('with settings that risk the index is warned of, each with what to do', async () => {
    const url = await createTestDatabase()
    // From version 18 on they are on by default.
    const [pages] = await queryOnce(url, 'SHOW data_checksums')
    const findings = await checkPostgres(configure('sqlite:x'), url)
    const risks = findings.filter(({ check }) => check === 'durability')
    expect(risks.map(({ state, found }) => [state, found.split(' ')[0]])).toEqual([
      ['warning', 'fsync'],
      ['warning', 'full_page_writes'],
      ['warning', 'synchronous_commit'],
      ...(pages?.data_checksums === 'off' ? [['warning', 'data_checksums']] : [])
    ])
    expect(risks.every(({ advice }) => advice)).toBe(true)
  })

  it('with fewer connections than the server opens is warned of, those counted that index', async () => {
    const url = await sound.createDatabase()
    const connectionsOf = async (changes: Partial<ConfigInput>) =>
      (await checkPostgres(configure(url, changes), url)).find(({ check }) => check === 'connections')
    const evm = Array.from({ length: 50 }, (_, at) => ({ chainId: at + 1, rpcUrls: ['http://127.0.0.1:1'] }))
    expect(await connectionsOf({ chains: { evm } })).toMatchObject({
      state: 'warning',
      found: expect.stringMatching(/^this server opens up to 68; /),
      advice: expect.stringMatching(/^raise max_connections, or lower storeConnections/)
    })
    expect(await connectionsOf({ chains: { evm }, indexing: false })).toMatchObject({
      state: 'ok',
      found: expect.stringMatching(/^this server opens up to 22; /)
    })
  })

  it('whose user may not make, write or read the schemas is told apart', async () => {
    const url = await sound.createDatabase()
    const reader = await createReader(url)
    const rightsOf = async (indexing: boolean) =>
      (await checkPostgres(configure(reader, { indexing }), reader)).find(({ check }) => check === 'rights')
    expect(await rightsOf(true)).toMatchObject({ state: 'warning', found: 'the user may not make schemas' })
    await (await openStoreWriter({ kind: 'postgres', url }, identity)).close()
    expect(await rightsOf(true)).toMatchObject({
      state: 'error',
      found: 'the user may not write the schemas chain_data_31337',
      advice: 'use the user who owns them'
    })
    expect(await rightsOf(false)).toMatchObject({
      state: 'error',
      found: 'the user may not read the schemas chain_data_31337'
    })
    await queryOnce(
      url,
      'GRANT USAGE ON SCHEMA chain_data_31337 TO reader',
      'GRANT SELECT ON ALL TABLES IN SCHEMA chain_data_31337 TO reader'
    )
    expect(await rightsOf(false)).toMatchObject({ state: 'ok', found: 'the user may read the schemas' })
    // It is enough to answer.
    expect(
      (await checkStore(configure(reader, { indexing: false }), nobody)).map(({ state }) => state)
    ).toEqual(Array(6).fill('ok'))
  })

  it('that cannot be used is told once, without its URL, user or password', async () => {
    const url = await sound.createDatabase()
    const database = new URL(url).pathname
    const wrong = [
      [
        url.replace(database, '/missing'),
        /^PostgreSQL refused: database "missing" does not exist/,
        /the name of/
      ],
      [
        url.replace('postgres@', 'nobody:hunter2@'),
        /^PostgreSQL refused: role "nobody" does not exist/,
        /user$/
      ],
      ['postgres://u:hunter2@127.0.0.1:1/x', /^PostgreSQL cannot be reached: ECONNREFUSED$/, /pg_hba\.conf/]
    ] as const
    for (const [store, found, advice] of wrong) {
      const findings = await checkStore(configure(store), nobody)
      expect(findings).toEqual([
        {
          ...{ check: 'database', state: 'error' },
          ...{ found: expect.stringMatching(found), advice: expect.stringMatching(advice) }
        }
      ])
      expect(JSON.stringify(findings)).not.toMatch(/hunter2|127\.0\.0\.1|postgres:/)
    }
  })
})

describe('a read replica', () => {
  it('that takes writes, or cannot be reached, is none', async () => {
    const url = await sound.createDatabase()
    const config = configure(url, { storeReplicas: [url] })
    const findings = await checkReplica(config, url, url)
    expect(findings.find(({ check }) => check === 'replication')).toMatchObject({
      state: 'warning',
      found: 'it takes writes, so it is no replica'
    })
    expect(await checkReplica(config, url, 'postgres://127.0.0.1:1/x')).toMatchObject([
      { check: 'database', state: 'error' }
    ])
  })

  it('is one of the database in store, may be read, and is no store itself', async () => {
    const primary = await startPostgres()
    cleanUps.push(() => primary.stop())
    const url = await primary.createDatabase()
    await (await openStoreWriter({ kind: 'postgres', url }, identity)).close()
    const replica = await primary.startReplica()
    cleanUps.push(() => replica.stop())
    const replicaUrl = replica.urlOfSame(url)
    const config = configure(url, { storeReplicas: [replicaUrl] })
    const shown = (await checkReplica(config, url, replicaUrl)).map(({ check, state }) => `${check} ${state}`)
    expect(shown).toEqual(['database ok', 'rights ok', 'replication ok', 'connections ok'])
    const stranger = await checkReplica(config, await sound.createDatabase(), replicaUrl)
    expect(stranger.find(({ check }) => check === 'replication')).toMatchObject({
      state: 'error',
      found: 'it follows another primary than the one in store'
    })
    const rightsOf = async (indexing: boolean) =>
      (await checkPostgres(configure(replicaUrl, { indexing }), replicaUrl)).find(
        ({ check }) => check === 'rights'
      )
    expect(await rightsOf(true)).toMatchObject({
      state: 'error',
      found: 'it is a read replica: nothing can be indexed into it'
    })
    expect(await rightsOf(false)).toMatchObject({ state: 'ok' })
  })
})

describe('the command over PostgreSQL', () => {
  async function write(config: object): Promise<string> {
    const folder = await mkdtemp(join(tmpdir(), 'chain-data-check-'))
    cleanUps.push(() => rm(folder, { recursive: true, force: true }))
    const file = join(folder, 'config.json')
    await writeFile(file, JSON.stringify(config))
    return file
  }

  it('check names the place of what is wrong, and status reads how far the index is', async () => {
    const url = await sound.createDatabase()
    const withPassword = url.replace('postgres@', 'postgres:hunter2@')
    await (await openStoreWriter({ kind: 'postgres', url }, identity)).close()
    const config = await write({
      ...configure(withPassword, { storeReplicas: [withPassword.replace(/\/\w+\?/, '/missing?')] }),
      metadata: { ipfsGateways: ['http://127.0.0.1:1'], arweaveGateways: ['http://127.0.0.1:1'] }
    })
    const check = runCommand(['check', '--json', '--config', config])
    expect(await check.ended).toBe(1)
    const { findings } = JSON.parse(check.stdout()) as {
      findings: { place: string; check: string; state: string }[]
    }
    const shown = findings.map(({ place, check: name, state }) => `${place} ${name} ${state}`)
    expect(shown).toEqual(
      expect.arrayContaining(['store database ok', 'store index 31337 ok', 'storeReplicas[0] database error'])
    )
    const status = runCommand(['status', '--config', config])
    expect(await status.ended).toBe(1)
    expect(status.stdout()).toMatch(/^evm 31337 +not running +- /m)
    expect(check.stdout() + check.stderr() + status.stdout() + status.stderr()).not.toContain('hunter2')
  })
})
