import {
  type Address,
  type Damage,
  type HoldingCandidate,
  IndexDamagedError,
  type StoreWriter,
  walkIndex
} from '@chain-data/index'
import {
  buildChain,
  commitChain,
  createTestDatabase,
  eventually,
  gather,
  hashOf,
  openOwnPostgresReader,
  openPostgresWriter,
  openSqliteReader,
  openSqliteWriter,
  partCount,
  people,
  type SqliteWriterOptions,
  temporaryFolder,
  withSnapshot
} from '@chain-data/index/test'
import { afterEach, expect, it } from 'vitest'
import { countRows, damageIndex } from './damageIndex.ts'
import { startHealer } from './startHealer.ts'

const identity = { chainId: 31_337, genesisHash: hashOf('genesis') }
const person = (n: number): Address => people[n % people.length] ?? '0x'
const candidateOf = (n: number): HoldingCandidate => {
  const base = { owner: person(n), contract: person(3 * n + 1) }
  return n % 3 === 0 ? { ...base, standard: 'erc721', tokenId: BigInt(n) } : { ...base, standard: 'erc20' }
}
const blocks = buildChain(
  Array.from({ length: 40 }, (_, n) => [
    { name: `tx ${n}`, parties: [person(n)], candidates: [candidateOf(n), candidateOf(n + 40)] }
  ])
)
const owned = (address: Address) =>
  blocks
    .flatMap(({ transactions }) => transactions)
    .flatMap(({ candidates }) => candidates)
    .filter(({ owner }) => owner === address)

const cleanUps: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

/** Where rows are added, rows are proven by the sums of parts; in merged epochs by their own. */
const merged = { epochTransactions: 10, mergeFanOut: 2, mergeAfterMs: 0, minUndoBlocks: 2, maxUndoBlocks: 4 }
const layouts: readonly [string, SqliteWriterOptions, number][] = [
  ['that blocks are appended to', { mergeAfterMs: null }, 1],
  ['that is merged', merged, 2]
]
const oneRow = (proof: number) =>
  `FROM holding JOIN holding_epoch ON id = epoch WHERE proof = ${proof} ORDER BY owner, contract LIMIT 1`
const damages = [
  [
    'altered',
    (row: string) =>
      `UPDATE holding SET contract = x'${'77'.repeat(20)}' WHERE (epoch, owner, contract, token_id, standard) = (SELECT epoch, owner, contract, token_id, standard ${row})`
  ],
  [
    'lost',
    (row: string) =>
      `DELETE FROM holding WHERE (epoch, owner, contract, token_id, standard) = (SELECT epoch, owner, contract, token_id, standard ${row})`
  ],
  [
    'cut short',
    (row: string) =>
      `UPDATE holding SET owner = x'00' WHERE (epoch, owner, contract, token_id, standard) = (SELECT epoch, owner, contract, token_id, standard ${row})`
  ]
] as const

/** Heals until nothing is damaged. */
async function healAll(writer: StoreWriter, damages: readonly Damage[]) {
  const { board, healAll, stop } = startHealer(writer, blocks, damages)
  cleanUps.push(stop)
  await healAll()
  return board
}

it.each(
  layouts.flatMap(([where, layout, proof]) =>
    damages.map(([what, toSql]) => ({ where, layout, proof, what, toSql }))
  )
)(
  'a holding candidate that is $what, in an epoch $where, is put back from the blocks of its epoch',
  async ({ layout, proof, toSql }) => {
    const { path: folder, remove } = await temporaryFolder()
    cleanUps.push(remove)
    const location = { kind: 'sqlite', folder } as const
    const writer: StoreWriter = await openSqliteWriter(folder, identity, layout)
    cleanUps.push(() => writer.close())
    for (let at = 0; at < blocks.length; at += 5) await commitChain(writer, blocks.slice(at, at + 5))
    await writer.markBackfilled()
    const proven = () => countRows(location, `SELECT count(*) AS n FROM holding_epoch WHERE proof = ${proof}`)
    await eventually('rows are proven in this way', async () => (await proven()) > 0)

    const reader = await openSqliteReader(folder, identity.chainId)
    cleanUps.push(() => reader.close())
    const candidatesOf = (address: Address) =>
      withSnapshot(reader, snapshot => gather(snapshot.holdingCandidates(address)))
    await damageIndex(location, toSql(oneRow(proof)))
    const met: IndexDamagedError[] = []
    for (const address of people) {
      const refused = await candidatesOf(address).catch((error: unknown) => error)
      if (refused instanceof IndexDamagedError) {
        met.push(refused)
        const { unresolved } = await withSnapshot(reader, snapshot => snapshot.recount(address))
        expect(unresolved, 'a certificate fails').toBeGreaterThan(0)
      } else expect(refused).toEqual(expect.arrayContaining(owned(address)))
    }
    expect(met.map(({ damage }) => damage.part)).toContain('candidate')

    const board = await healAll(
      writer,
      met.map(({ damage }) => damage)
    )
    for (const address of people) {
      expect(await candidatesOf(address)).toEqual(expect.arrayContaining(owned(address)))
    }
    if (proof === 2) {
      const unproven = 'SELECT count(*) AS n FROM holding_epoch WHERE proof = 0'
      await eventually('the epoch is proven again', async () => (await countRows(location, unproven)) === 0)
    }
    for await (const { damage } of walkIndex(reader)) expect(damage).toEqual([])
    expect(board.read().indexUnusable).toBeUndefined()
  }
)

it.each([
  ['lost', (row: string) => `DELETE FROM holding WHERE (owner, contract) = ${row}`],
  ['altered', (row: string) => `UPDATE holding SET contract = '\\x77' WHERE (owner, contract) = ${row}`],
  [
    'given to another owner',
    (row: string) => `UPDATE holding SET owner = '\\x77' WHERE (owner, contract) = ${row}`
  ],
  ['without its sum', () => 'DELETE FROM key_part WHERE keyed = 2']
])(
  'a holding candidate of PostgreSQL that is %s is found in the background, and put back',
  async (_, toSql) => {
    const url = await createTestDatabase()
    const writer = await openPostgresWriter(url, identity)
    cleanUps.push(() => writer.close())
    for (let at = 0; at < blocks.length; at += 5) await commitChain(writer, blocks.slice(at, at + 5))
    const reader = await openOwnPostgresReader([url], identity.chainId)
    cleanUps.push(() => reader.close())
    const damaged = () => withSnapshot(reader, snapshot => snapshot.findRowDamage(0, partCount))
    expect(await damaged()).toEqual([])

    const row = '(SELECT owner, contract FROM holding ORDER BY owner, contract LIMIT 1)'
    await damageIndex({ kind: 'postgres', url }, toSql(row))
    const found = await damaged()
    expect(found.map(({ part }) => part)).toContain('candidate')
    const unresolved = await withSnapshot(reader, async snapshot => {
      const recounts = await Promise.all(people.map(person => snapshot.recount(person)))
      return recounts.reduce((sum, recount) => sum + recount.unresolved, 0)
    })
    expect(unresolved).toBeGreaterThan(0)

    const board = await healAll(writer, found)
    expect(await damaged()).toEqual([])
    for (const address of people) {
      const candidates = await withSnapshot(reader, snapshot => gather(snapshot.holdingCandidates(address)))
      expect(candidates).toEqual(expect.arrayContaining(owned(address)))
    }
    expect(board.read().indexUnusable).toBeUndefined()
  }
)
