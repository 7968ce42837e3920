/**
 * What a call costs beside the exchange itself; README.md beside this file says how it is measured.
 *
 * `npm run bench -w @chain-data/client` after a build; with `-- --write` the figures go into `results/`.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { cpus, platform, release, totalmem } from 'node:os'
import { fileURLToPath } from 'node:url'
import { type Contender, createContenders } from './contenders.ts'
import { measureColdImport } from './measureColdImport.ts'
import { measureHeapGrowth } from './measureHeap.ts'
import { measureLargeAnswer } from './measureLargeAnswer.ts'
import { measureOverhead } from './measureOverhead.ts'

const limits = {
  fetchTimesBare: 1.7,
  axiosTimesBare: 1.7,
  largeAnswerTimesBare: 1.3,
  coldImportMs: 8,
  heapGrowthBytes: 1_000_000
}
const print = (line: string) => process.stdout.write(`${line}\n`)

const entrants = await createContenders()
const contenders = entrants.filter((each): each is Contender => 'call' in each)
for (const each of entrants) if ('skipped' in each) print(`${each.name} is skipped: ${each.skipped}`)

print('time per call, mock transport (us)')
const times = await measureOverhead(contenders)
const rows = contenders.map(({ name, bare }) => {
  const own = times.get(name)
  const below = times.get(`bare ${bare}`)
  if (own === undefined || below === undefined) throw new Error(`${name} was not measured`)
  return { name, p50: own.p50, p99: own.p99, overBare: own.p50 - below.p50, timesBare: own.p50 / below.p50 }
})
for (const { name, p50, p99, overBare, timesBare } of rows) {
  print(
    `  ${name.padEnd(26)} p50 ${p50.toFixed(2).padStart(7)}  p99 ${p99.toFixed(1).padStart(7)}  over bare ${overBare.toFixed(2).padStart(6)}  x${timesBare.toFixed(2)}`
  )
}

const heap: Record<string, number> = {}
for (const name of ['@chain-data/client/fetch', '@chain-data/client']) {
  const contender = contenders.find(each => each.name === name)
  if (contender === undefined) continue
  heap[name] = await measureHeapGrowth(contender)
  print(`heap growth over 100,000 calls of ${name}: ${heap[name]} bytes (below ${limits.heapGrowthBytes})`)
}

const large = await measureLargeAnswer()
const largeTimesBare = large.medianMs / large.bareMedianMs
const range = ([low, high]: readonly [number, number]) => `${low.toFixed(0)} to ${high.toFixed(0)}`
print(
  `${large.records} records (${(large.bytes / 1e6).toFixed(1)} MB): ${large.medianMs.toFixed(0)} ms (${range(large.rangeMs)}), response.json() ${large.bareMedianMs.toFixed(0)} ms (${range(large.bareRangeMs)})  x${largeTimesBare.toFixed(2)}`
)

const coldImport: Record<string, { readonly medianMs: number; readonly bareMs: number }> = {}
for (const entry of ['@chain-data/client/fetch', '@chain-data/client', 'axios', 'viem', '@solana/kit']) {
  const measured = measureColdImport(entry)
  coldImport[entry] = measured
  print(`cold import of ${entry}: ${measured.medianMs.toFixed(1)} ms`)
}

const timesBareOf = (name: string) => rows.find(row => row.name === name)?.timesBare ?? Number.NaN
const goals = [
  ['./fetch, one call, x bare fetch', timesBareOf('@chain-data/client/fetch'), limits.fetchTimesBare],
  ['., one call, x bare axios', timesBareOf('@chain-data/client'), limits.axiosTimesBare],
  ['./fetch, 50,000 records, x response.json()', largeTimesBare, limits.largeAnswerTimesBare],
  [
    'cold import of ./fetch, ms',
    coldImport['@chain-data/client/fetch']?.medianMs ?? NaN,
    limits.coldImportMs
  ],
  ['heap growth of ./fetch, bytes', heap['@chain-data/client/fetch'] ?? NaN, limits.heapGrowthBytes]
] as const
for (const [what, value, limit] of goals) {
  print(`${value <= limit ? 'met   ' : 'MISSED'} ${what}: ${value.toFixed(2)} (at most ${limit})`)
}

if (process.argv.includes('--write')) {
  const folder = fileURLToPath(new URL('results/', import.meta.url))
  mkdirSync(folder, { recursive: true })
  const machine = {
    cpu: cpus()[0]?.model,
    cores: cpus().length,
    memoryBytes: totalmem(),
    os: `${platform()} ${release()}`,
    node: process.version
  }
  const skipped = entrants.filter(each => 'skipped' in each)
  const date = new Date().toISOString().slice(0, 10)
  const result = {
    date,
    machine,
    limits,
    callsUs: rows,
    heapGrowthBytes: heap,
    largeAnswer: large,
    coldImportMs: coldImport,
    skipped
  }
  writeFileSync(`${folder}${date}.json`, `${JSON.stringify(result, null, 2)}\n`)
}
