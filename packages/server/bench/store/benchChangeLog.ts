import { openStoreWriter } from '@chain-data/index'
import { chainFiles, loadSqliteDriver } from '@chain-data/index/test'
import { packBlocks } from '@chain-data/index/record'
import { storeIdentity } from './ingestThread.ts'
import { type Engine, engines, makeStore } from './stores.ts'
import { createSyntheticChain } from './syntheticChain.ts'

const rounds = 5
/** Blocks of each commit, and commits of each run: as while a chain catches up, and as at its head. */
const cases = [
  { name: 'batches of 8,100 transactions', blocks: 54, commits: 6 },
  { name: 'single blocks of 150 transactions', blocks: 1, commits: 120 }
] as const
/** So far below the head that nothing is logged. */
const farAhead = 2 ** 30

/** Stores the same blocks with the log of changes and without it in turn, each time in an empty store. */
export async function benchChangeLog(print: (line: string) => void): Promise<object> {
  const found: Record<string, object> = {}
  for (const engine of engines) {
    for (const { name, ...size } of cases) {
      await ingest(engine, size, true)
      const ratios: { readonly wall: number; readonly processor: number }[] = []
      for (let round = 0; round < rounds; round++) {
        const isFirst = round % 2 === 0
        const first = await ingest(engine, size, isFirst)
        const second = await ingest(engine, size, !isFirst)
        const [logged, plain] = isFirst ? [first, second] : [second, first]
        ratios.push({ wall: logged.ms / plain.ms, processor: logged.cpuMs / plain.cpuMs })
      }
      const wall = spread(ratios.map(ratio => ratio.wall))
      const processor = spread(ratios.map(ratio => ratio.processor))
      found[`${engine}, ${name}`] = { wall, processor }
      print(
        `  ${engine}, ${name}: with the log ${wall.text} of the time, ${processor.text} of this process's processor time`
      )
    }
  }
  const bytes = await bytesPerTransaction()
  print(`  ${bytes.toFixed(0)} bytes of the log a transaction`)
  return { ...found, bytesPerTransaction: bytes }
}

async function ingest(
  engine: Engine,
  { blocks, commits }: { readonly blocks: number; readonly commits: number },
  isLogged: boolean
): Promise<{ readonly ms: number; readonly cpuMs: number }> {
  const store = await makeStore(engine)
  const writer = await openStoreWriter(store.location, storeIdentity)
  const chain = createSyntheticChain()
  let ms = 0
  let cpuMs = 0
  try {
    for (let commit = 0; commit < commits; commit++) {
      const packed = packBlocks(Array.from({ length: blocks }, () => chain.block()))
      const last = packed.headers.at(-1)?.ref.number ?? 0
      const cpu = process.cpuUsage()
      const startedMs = performance.now()
      await writer.commitBlocks(packed, {
        head: isLogged ? last : farAhead,
        ...(last >= 64 && { finalized: last - 64 })
      })
      ms += performance.now() - startedMs
      const { user, system } = process.cpuUsage(cpu)
      cpuMs += (user + system) / 1_000
    }
  } finally {
    await writer.close()
    await store.remove()
  }
  return { ms, cpuMs }
}

async function bytesPerTransaction(): Promise<number> {
  const store = await makeStore('sqlite')
  const writer = await openStoreWriter(store.location, storeIdentity)
  const chain = createSyntheticChain()
  const packed = packBlocks(Array.from({ length: 20 }, () => chain.block()))
  try {
    await writer.commitBlocks(packed)
    const folder = store.location.kind === 'sqlite' ? store.location.folder : ''
    const { database } = chainFiles(folder, storeIdentity.chainId)
    const connection = loadSqliteDriver().open(database, { busyTimeoutMs: 1_000 })
    const text = 'SELECT sum(length(rec)) AS bytes FROM change_log'
    const bytes = connection.prepare<{ bytes: number }>(text).get([])?.bytes ?? 0
    connection.close()
    return bytes / packed.ids.length
  } finally {
    await writer.close()
    await store.remove()
  }
}

function spread(values: readonly number[]) {
  const sorted = [...values].sort((a, b) => a - b)
  const [least, median, most] = [sorted[0] ?? 0, sorted[sorted.length >> 1] ?? 0, sorted.at(-1) ?? 0]
  return { least, median, most, text: `${median.toFixed(2)} (${least.toFixed(2)} to ${most.toFixed(2)})` }
}
