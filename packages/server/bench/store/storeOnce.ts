/**
 * Fills one store of a checkout and reads pages of it; prints the figures as JSON. Started by `benchStoreAgainst.ts`, once for each
 * checkout and round, so that nothing of one is warm for the other.
 *
 * Arguments: the root of the checkout, `sqlite` or the URL of an empty database, the number of transactions.
 */
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import type { Address, HistoryPart, StoreLocation } from '@chain-data/index'
import pg from 'pg'

const [root = '', place = 'sqlite', count = '0'] = process.argv.slice(2)
const transactions = Number(count)
/** As many as a commit of a catch-up has. */
const perCommit = 8_000
const limit = 25

const load = (path: string) => import(pathToFileURL(join(root, path)).href)
const index: typeof import('@chain-data/index') = await load('packages/index/src/index.ts')
const record: typeof import('@chain-data/index/record') = await load('packages/index/src/record.ts')
const synthetic: typeof import('./syntheticChain.ts') = await load(
  'packages/server/bench/store/syntheticChain.ts'
)

const folder = mkdtempSync(join(tmpdir(), 'chain-data-bench-'))
const location: StoreLocation =
  place === 'sqlite' ? { kind: 'sqlite', folder } : { kind: 'postgres', url: place }
const figures: Record<string, number> = {}
const chain = synthetic.createSyntheticChain()
const writer = await index.openStoreWriter(location, { chainId: 1, genesisHash: synthetic.blockHash(0) })
await fill()
await mergeAll()
figures.bytes = (await storedBytes()) / transactions
const reader = await index.openStoreReader(location, 1)
await readPages()
await reader.close()
await writer.close()
rmSync(folder, { recursive: true })
process.stdout.write(`${JSON.stringify(figures)}\n`)

/** Processor time of this process, which is all of SQLite's; of PostgreSQL the time of its server is left out. */
function cpuMicros(): number {
  const { user, system } = process.cpuUsage()
  return user + system
}

async function fill(): Promise<void> {
  let cpu = 0
  let ms = 0
  for (let stored = 0; stored < transactions; ) {
    const size = Math.ceil(perCommit / synthetic.chainFigures.transactionsPerBlock)
    const blocks = Array.from({ length: size }, () => chain.block())
    const packed = record.packBlocks(blocks)
    const [cpuBefore, msBefore] = [cpuMicros(), performance.now()]
    await writer.commitBlocks(packed, { finalized: blocks.at(-1)?.ref.number ?? 0 })
    cpu += cpuMicros() - cpuBefore
    ms += performance.now() - msBefore
    stored += packed.ids.length
  }
  figures.commitCpu = cpu / transactions
  figures.commitMicros = (ms * 1_000) / transactions
}

/** Waits until the writer has merged all that it merges in a pause. */
async function mergeAll(): Promise<void> {
  const before = cpuMicros()
  let last = before
  for (let quiet = 0; quiet < 4; ) {
    await sleep(300)
    const now = cpuMicros()
    quiet = now - last < 20_000 ? quiet + 1 : 0
    last = now
  }
  figures.mergeCpu = (last - before) / transactions
}

async function storedBytes(): Promise<number> {
  if (location.kind === 'sqlite') return statSync(join(folder, 'evm-1.sqlite')).size
  const client = new pg.Client({ connectionString: location.url })
  await client.connect()
  await client.query('VACUUM ANALYZE')
  const { rows } = await client.query<{ bytes: string }>(
    `SELECT sum(pg_total_relation_size(c.oid)) AS bytes FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE n.nspname = 'chain_data_1' AND c.relkind = 'r'`
  )
  await client.end()
  return Number(rows[0]?.bytes ?? 0)
}

async function readPages(): Promise<void> {
  const next = synthetic.createNumbers(5)
  const active = () => synthetic.accountAddress(synthetic.skewedBelow(next, chain.accounts()))
  const half = Math.floor(transactions / synthetic.chainFigures.transactionsPerBlock / 2)
  const kinds: Record<string, readonly [pick: () => Address, part?: HistoryPart]> = {
    any: [active],
    busy: [() => synthetic.whale],
    dormant: [() => synthetic.accountAddress(Math.floor(next() * chain.accounts()))],
    absent: [() => synthetic.strangerAddress(Math.floor(next() * 2 ** 30))],
    older: [active, { olderThan: { blockNumber: half, index: 0 } }]
  }
  for (const [kind, [pick, part = {}]] of Object.entries(kinds)) {
    const addresses = Array.from({ length: 2_000 }, pick)
    for (const address of addresses.slice(0, 300)) await readPage(address, part)
    const [cpu, ms] = [cpuMicros(), performance.now()]
    for (const address of addresses) await readPage(address, part)
    figures[`${kind}Cpu`] = (cpuMicros() - cpu) / addresses.length
    figures[`${kind}Micros`] = ((performance.now() - ms) * 1_000) / addresses.length
  }
}

async function readPage(address: Address, part: HistoryPart): Promise<void> {
  const snapshot = await reader.openSnapshot(part.olderThan ? {} : { historyOf: address })
  for await (const _ of snapshot.records(address, { ...part, limit }));
  await snapshot.close()
}
