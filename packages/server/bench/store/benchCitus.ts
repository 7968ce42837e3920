import type { StoreReader } from '@chain-data/index'
import { packBlocks } from '@chain-data/index/record'
import {
  hasCitus,
  openOwnPostgresReader,
  openPostgresWriter,
  startCitus,
  startPostgres
} from '@chain-data/index/test'
import { formatSpread, type Spread, spread } from '../http/spread.ts'
import { storeIdentity } from './ingestThread.ts'
import { timePage } from './measureStore.ts'
import { postgresSettings } from './stores.ts'
import {
  accountAddress,
  createNumbers,
  createSyntheticChain,
  skewedBelow,
  strangerAddress
} from './syntheticChain.ts'

const rounds = 3
/** As while a chain catches up, 4,050 transactions each; then as at its head, 150 each. */
const [batches, blocksOfBatch, singleBlocks] = [60, 27, 120]
const pages = 400

/** Stores a chain in plain PostgreSQL and in Citus in turn, a commit at a time, and then reads pages of both in turn. */
export async function benchCitus(print: (line: string) => void): Promise<object> {
  if (!hasCitus()) {
    throw new Error(
      'the PostgreSQL on the path has no library of Citus (lib/citus.so): docs/citus.md says what is needed'
    )
  }
  const settings = { settings: postgresSettings }
  const servers = [await startPostgres(settings), await startCitus(settings)] as const
  const runs: Record<string, Measured>[] = []
  try {
    for (let round = 0; round < rounds; round++) {
      const urls = [await servers[0].createDatabase(), await servers[1].createDatabase()] as const
      runs.push(await measure(urls))
    }
  } finally {
    for (const server of servers) await server.stop()
  }
  const figures: Record<string, Record<keyof Measured, Spread>> = {}
  for (const name of Object.keys(runs[0] ?? {})) {
    const each = runs.flatMap(run => run[name] ?? [])
    const [plainMs, citusMs] = [spread(each.map(run => run.plainMs)), spread(each.map(run => run.citusMs))]
    const ratio = spread(each.map(run => run.ratio))
    figures[name] = { plainMs, citusMs, ratio }
    print(
      `  ${name}: Citus takes ${formatSpread(ratio, 2)} of the time; ${formatSpread(citusMs, 2)} ms and ${formatSpread(plainMs, 2)} ms`
    )
  }
  return figures
}

/** Medians of one round. */
interface Measured {
  readonly plainMs: number
  readonly citusMs: number
  readonly ratio: number
}

/** One value of plain PostgreSQL and one of Citus. */
type Pair<T> = readonly [T, T]

async function measure(urls: Pair<string>): Promise<Record<string, Measured>> {
  const openWriter = (url: string) => openPostgresWriter(url, storeIdentity)
  const writers = [await openWriter(urls[0]), await openWriter(urls[1])] as const
  const chain = createSyntheticChain()
  const commits = (times: number, blocks: number) =>
    takeTurns(
      times,
      () => packBlocks(Array.from({ length: blocks }, () => chain.block())),
      async (at, packed) => {
        const startedMs = performance.now()
        const last = packed.headers.at(-1)?.ref.number ?? 0
        await writers[at].commitBlocks(packed, { head: last, ...(last >= 64 && { finalized: last - 64 }) })
        return performance.now() - startedMs
      }
    )
  const commitOfBatch = await commits(batches, blocksOfBatch)
  const commitOfBlock = await commits(singleBlocks, 1)
  for (const writer of writers) await writer.close()
  const openReader = (url: string) => openOwnPostgresReader([url], storeIdentity.chainId)
  const readers: Pair<StoreReader> = [await openReader(urls[0]), await openReader(urls[1])]
  const next = createNumbers(1)
  const readPages = (account: () => `0x${string}`) =>
    takeTurns(pages, account, (at, address) => timePage(readers[at], address))
  const page = await readPages(() => accountAddress(skewedBelow(next, chain.accounts())))
  const unknown = await readPages(() => strangerAddress(Math.floor(next() * 2 ** 30)))
  for (const reader of readers) await reader.close()
  return {
    'commit of 4,050 transactions': commitOfBatch,
    'commit of a block of 150': commitOfBlock,
    'page of 100': page,
    'address in no block': unknown
  }
}

/** Measures the same piece of work on both, each of them first every other time. */
async function takeTurns<T>(
  times: number,
  prepare: () => T,
  work: (at: 0 | 1, piece: T) => Promise<number>
): Promise<Measured> {
  const ms: Pair<number[]> = [[], []]
  for (let turn = 0; turn < times; turn++) {
    const piece = prepare()
    for (const at of turn % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const))
      ms[at].push(await work(at, piece))
  }
  const [plainMs, citusMs] = [spread(ms[0]).median, spread(ms[1]).median]
  return { plainMs, citusMs, ratio: citusMs / plainMs }
}
