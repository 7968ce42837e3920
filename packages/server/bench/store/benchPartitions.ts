import type { Address, Snapshot, StoreReader } from '@chain-data/index'
import { packBlocks } from '@chain-data/index/record'
import {
  buildChain,
  commitChain,
  DirectoryWriter,
  openOwnPostgresReader,
  openPostgresWriter,
  startPostgres
} from '@chain-data/index/test'
import pg from 'pg'
import { storeIdentity } from './ingestThread.ts'
import { postgresSettings } from './stores.ts'
import { accountAddress, createSyntheticChain } from './syntheticChain.ts'

const partitionCounts = [16, 200, 1_250]
const transactionsOfPartition = 16
const pagesEach = 40
const [everywhere, often, once, stranger] = [1, 2, 3, 4].map(accountAddress) as [
  Address,
  Address,
  Address,
  Address
]

/**
 * Counts the round trips of a page of PostgreSQL, its beginning included, in indexes of 16, 200 and 1,250 partitions, and measures
 * what the directory of addresses costs while an index is filled.
 */
export async function benchPartitions(print: (line: string) => void): Promise<object> {
  const server = await startPostgres({ settings: postgresSettings })
  try {
    const pages: Record<string, object> = {}
    for (const partitions of partitionCounts) {
      const url = await server.createDatabase()
      await fill(url, partitions)
      const reader = await openOwnPostgresReader([url], storeIdentity.chainId)
      for (const [name, address] of [
        ['in no block', stranger],
        ['in one old block', once],
        ['in every tenth partition', often],
        ['in every partition', everywhere]
      ] as const) {
        const { roundTrips, ms } = await measurePage(reader, address)
        pages[`${partitions} partitions, ${name}`] = { roundTrips, ms }
        print(
          `  ${partitions} partitions, an address ${name}: ${roundTrips} round trips, ${ms.toFixed(2)} ms`
        )
      }
      await reader.close()
    }
    const ingest = await measureIngest(() => server.createDatabase(), print)
    return { pages, ingest }
  } finally {
    await server.stop()
  }
}

async function fill(url: string, partitions: number): Promise<void> {
  const blocks = buildChain(
    Array.from({ length: partitions }, (_, block) =>
      Array.from({ length: transactionsOfPartition }, (_, index) => ({
        name: `${block}/${index}`,
        parties: [
          accountAddress(1_000 + block * transactionsOfPartition + index),
          ...(index > 0 ? [] : [everywhere]),
          ...(index > 0 || block % 10 > 0 ? [] : [often]),
          ...(index > 0 || block !== 1 ? [] : [once])
        ]
      }))
    )
  )
  const layout = { smallestPartition: transactionsOfPartition, largestPartition: transactionsOfPartition }
  const writer = await openPostgresWriter(url, storeIdentity, { ...layout, listingMs: 60_000 })
  // Making partitions takes the longer the more there are, and a statement has a minute.
  for (let at = 0; at < blocks.length; at += 10) await commitChain(writer, blocks.slice(at, at + 10))
  await writer.close()
}

async function measurePage(reader: StoreReader, address: Address) {
  const { query } = pg.Client.prototype
  // How the tables are cut is read once.
  const first = await reader.openSnapshot()
  await readPage(first, address)
  await first.close()
  const [counts, times]: [number[], number[]] = [[], []]
  for (let page = 0; page < pagesEach; page++) {
    let asked = 0
    const startedMs = performance.now()
    pg.Client.prototype.query = function (this: pg.Client, ...values: Parameters<typeof query>) {
      asked++
      return query.apply(this, values)
    } as typeof query
    const snapshot = await reader.openSnapshot()
    await readPage(snapshot, address)
    times.push(performance.now() - startedMs)
    counts.push(asked)
    pg.Client.prototype.query = query
    // Its end is awaited by nobody.
    await snapshot.close()
  }
  return { roundTrips: medianOf(counts), ms: medianOf(times) }
}

function medianOf(values: number[]): number {
  return values.sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN
}

async function readPage(snapshot: Snapshot, address: Address): Promise<void> {
  for await (const _ of snapshot.records(address, { limit: 100 })) {
    // Nothing is done with it.
  }
}

const rounds = 3
const commits = 120
const blocksOfCommit = 27

/** Fills an index of four partitions in turn with the directory and without. */
async function measureIngest(createDatabase: () => Promise<string>, print: (line: string) => void) {
  const { work } = DirectoryWriter.prototype
  const ratios: number[] = []
  let bytes = 0
  for (let round = 0; round < rounds; round++) {
    const ms = [0, 0]
    for (const isListed of round % 2 === 0 ? [true, false] : [false, true]) {
      const url = await createDatabase()
      DirectoryWriter.prototype.work = isListed ? work : async () => {}
      ms[isListed ? 0 : 1] = await ingest(url)
      if (isListed) bytes = await directoryBytes(url)
    }
    DirectoryWriter.prototype.work = work
    ratios.push((ms[0] ?? 0) / (ms[1] ?? 1))
  }
  ratios.sort((a, b) => a - b)
  const transactions = commits * blocksOfCommit * 150
  print(
    `  time of commits with the directory: ${ratios[1]?.toFixed(3)} (${ratios[0]?.toFixed(3)}-${ratios[2]?.toFixed(3)}) of that without; ${(bytes / transactions).toFixed(1)} bytes a transaction`
  )
  return { ratios, bytesPerTransaction: bytes / transactions }
}

async function ingest(url: string): Promise<number> {
  const size = (commits * blocksOfCommit * 150) / 4
  const writer = await openPostgresWriter(url, storeIdentity, {
    smallestPartition: size,
    largestPartition: size
  })
  const chain = createSyntheticChain()
  let ms = 0
  for (let commit = 0; commit < commits; commit++) {
    const packed = packBlocks(Array.from({ length: blocksOfCommit }, () => chain.block()))
    const startedMs = performance.now()
    await writer.commitBlocks(packed, { finalized: packed.headers.at(-1)?.ref.number ?? 0 })
    ms += performance.now() - startedMs
  }
  await writer.close()
  return ms
}

async function directoryBytes(url: string): Promise<number> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const { rows } = await client.query<{ bytes: number }>(
      `SELECT pg_total_relation_size('chain_data_${storeIdentity.chainId}.directory')::float8 AS bytes`
    )
    return rows[0]?.bytes ?? 0
  } finally {
    await client.end()
  }
}
