import { readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { buildChain, hashOf, people } from '../../test/buildChain.ts'
import { commitChain } from '../../test/commitChain.ts'
import { expectedHistory } from '../../test/expectedHistory.ts'
import { readHistory, withSnapshot } from '../../test/readAll.ts'
import { temporaryFolder } from '../../test/support/temporaryFolder.ts'
import { StoreError } from '../platform/errors.ts'
import { chainFiles } from './open.ts'
import { openSqliteReader } from './openReader.ts'
import { openSqliteWriter } from './openWriter.ts'

const identity = { chainId: 31_337, genesisHash: hashOf('genesis') }
const pageBytes = 4096
const blocks = buildChain(
  Array.from({ length: 60 }, (_, number) => [
    { name: `a ${number}`, parties: people.slice(0, 4) },
    { name: `b ${number}`, parties: people.slice(3) }
  ])
)

let folder: string
let database: string
let whole: Buffer
let remove: () => Promise<void>

beforeEach(async () => {
  const made = await temporaryFolder()
  folder = made.path
  remove = made.remove
  database = chainFiles(folder, identity.chainId).database
  const writer = await openSqliteWriter(folder, identity)
  await commitChain(writer, blocks)
  await writer.close()
  whole = readFileSync(database)
})
afterEach(() => remove())

/** Asks for every history. @returns how many were refused; the others were right. */
async function countRefusals(): Promise<number> {
  for (const suffix of ['-wal', '-shm']) await rm(`${database}${suffix}`, { force: true })
  const reader = await openSqliteReader(folder, identity.chainId).catch(expectRefusal)
  if (reader === undefined) return people.length
  let refused = 0
  for (const address of people) {
    const told = await withSnapshot(reader, async snapshot => {
      const isThere = (await snapshot.indexedRange()) !== undefined
      return isThere ? await readHistory(snapshot, address) : undefined
    }).catch(expectRefusal)
    if (told === undefined) refused++
    else expect(told).toStrictEqual(expectedHistory(blocks, address))
  }
  await reader.close()
  return refused
}

function expectRefusal(error: unknown): undefined {
  expect(error).toBeInstanceOf(StoreError)
}

test('a file that was cut at any page is refused, or answers as before', async () => {
  let refused = 0
  for (let page = 0; page < whole.length / pageBytes; page++) {
    writeFileSync(database, whole)
    truncateSync(database, page * pageBytes)
    refused += await countRefusals()
  }
  expect(refused).toBeGreaterThan(people.length)
})

test('a file of which any page was overwritten with zeros is refused, or answers as before', async () => {
  let refused = 0
  for (let page = 0; page < whole.length / pageBytes; page++) {
    const damaged = Buffer.from(whole)
    damaged.fill(0, page * pageBytes, (page + 1) * pageBytes)
    writeFileSync(database, damaged)
    refused += await countRefusals()
  }
  expect(refused).toBeGreaterThan(people.length)
})

test('a file of which any page was written over another one is refused, or answers as before', async () => {
  const pages = whole.length / pageBytes
  let refused = 0
  for (let page = 1; page < pages; page++) {
    const other = 1 + ((7 * page + 3) % (pages - 1))
    const damaged = Buffer.from(whole)
    whole.copy(damaged, page * pageBytes, other * pageBytes, (other + 1) * pageBytes)
    writeFileSync(database, damaged)
    refused += await countRefusals()
  }
  expect(refused).toBeGreaterThan(people.length)
})

test('a file that is no database is refused', async () => {
  writeFileSync(database, Buffer.alloc(whole.length, 'no database '))
  expect(await countRefusals()).toBe(people.length)
  await expect(openSqliteWriter(folder, identity)).rejects.toThrow(/SQLite refused/)
})
