import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { accountAt, chainId, datasetFigures, prepareDataset } from './dataset.ts'
import type { Listening, LoadFigures, LoadOrder, Usage } from './messages.ts'
import { type Child, canPin, startChild } from './startChild.ts'

const rounds = 3
const limit = 100
/** So many different accounts are asked for, one after the other. */
const accountsAsked = 2_000
const connections = 32

/** Measures the history over HTTP; README.md beside this file says what is timed. */
export async function benchHttp(print: (line: string) => void): Promise<object> {
  const folder = await prepareDataset(print)
  const bodies = Array.from({ length: accountsAsked }, (_, index) => pageOf(accountAt(index)))
  const temporary = mkdtempSync(join(tmpdir(), 'chain-data-bench-'))
  const bodiesFile = join(temporary, 'bodies.json')
  writeFileSync(bodiesFile, JSON.stringify(bodies))
  const server = startChild('serveHistory.ts', [folder], 0)
  const generator = startChild('generateLoad.ts', [], 1)
  try {
    const { url } = (await server.first) as Listening
    const bare = startChild('serveRecorded.ts', [url, bodiesFile], 0)
    try {
      const { url: bareUrl } = (await bare.first) as Listening
      const askOf =
        (child: Child, itsUrl: string): Ask =>
        async order => {
          const before = await child.ask<Usage>('usage')
          const figures = await generator.ask<LoadFigures>({
            url: itsUrl,
            bodies,
            arrivals: { kind: 'closed' },
            connections,
            warmUpMs: 1_500,
            measureMs: 4_000,
            ...order
          })
          const after = await child.ask<Usage>('usage')
          return { ...figures, cpuMicrosPerAnswer: ((after.cpuMs - before.cpuMs) * 1000) / figures.answers }
        }
      const pages = await measurePages(askOf(server, url), askOf(bare, bareUrl), print)
      return { dataset: datasetFigures, pinned: canPin, pages }
    } finally {
      await bare.stop()
    }
  } finally {
    await Promise.all([server.stop(), generator.stop()])
    rmSync(temporary, { recursive: true, force: true })
  }
}

function pageOf(address: string): string {
  const params = [address, { limit }]
  return JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'svc_getTransactionsByAddress', chainId, params })
}

interface Measured extends LoadFigures {
  /** Of the server, warm-up included. */
  readonly cpuMicrosPerAnswer: number
}

type Ask = (order?: Partial<LoadOrder>) => Promise<Measured>

/** Both servers in turn, at saturation and then at half of what each was seen to bear. */
async function measurePages(askOurs: Ask, askBare: Ask, print: (line: string) => void) {
  const saturated = { ours: [] as Measured[], bare: [] as Measured[] }
  for (let round = 0; round < rounds; round++) {
    saturated.bare.push(await askBare())
    saturated.ours.push(await askOurs())
  }
  const rates = { ours: spread(saturated.ours.map(rateOf)), bare: spread(saturated.bare.map(rateOf)) }
  const ratios = spread(saturated.ours.map((figures, i) => figures.perSecond / rateOf(saturated.bare[i])))
  print(`  requests/s at saturation: ${format(rates.ours)}; bare node:http ${format(rates.bare)}`)
  print(`  ratio ${format(ratios, 2)} (goal: at least 0.50)`)
  const cpu = (all: readonly Measured[]) => spread(all.map(({ cpuMicrosPerAnswer }) => cpuMicrosPerAnswer))
  print(
    `  processor time per answer: ${format(cpu(saturated.ours))} us; bare node:http ${format(cpu(saturated.bare))} us`
  )
  const load = (all: readonly LoadFigures[]) => spread(all.map(({ generatorLoad }) => generatorLoad))
  print(
    `  the generator used ${format(load(saturated.ours), 2)} of its core; with bare node:http ${format(load(saturated.bare), 2)}`
  )

  const half = { ours: [] as Measured[], bare: [] as Measured[] }
  for (let round = 0; round < rounds; round++) {
    half.bare.push(
      await askBare({ arrivals: { kind: 'open', perSecond: rates.bare.median / 2 }, connections: 256 })
    )
    half.ours.push(
      await askOurs({ arrivals: { kind: 'open', perSecond: rates.ours.median / 2 }, connections: 256 })
    )
  }
  const p99 = { ours: spread(half.ours.map(p99Of)), bare: spread(half.bare.map(p99Of)) }
  const p99Ratios = spread(half.ours.map((figures, i) => p99Of(figures) / p99Of(half.bare[i])))
  print(`  p99 at half load: ${format(p99.ours, 2)} ms; bare node:http ${format(p99.bare, 2)} ms`)
  print(`  ratio ${format(p99Ratios, 2)} (goal: at most 3)`)
  return { saturated, rates, ratios, half, p99, p99Ratios }
}

const rateOf = (figures: LoadFigures | undefined) => figures?.perSecond ?? Number.NaN
const p99Of = (figures: LoadFigures | undefined) => figures?.latencyMs.p99 ?? Number.NaN

interface Spread {
  readonly median: number
  readonly least: number
  readonly most: number
}

function spread(values: readonly number[]): Spread {
  const sorted = [...values].sort((a, b) => a - b)
  return {
    median: sorted[Math.floor(sorted.length / 2)] ?? Number.NaN,
    least: sorted[0] ?? Number.NaN,
    most: sorted.at(-1) ?? Number.NaN
  }
}

function format({ median, least, most }: Spread, digits = 0): string {
  return `${median.toFixed(digits)} (${least.toFixed(digits)}-${most.toFixed(digits)})`
}
