import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { accountAt, chainId, datasetFigures, prepareDataset } from './dataset.ts'
import type { Listening, LoadFigures, LoadOrder } from './messages.ts'
import { canPin, startChild } from './startChild.ts'

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
      const ask = (order: Partial<LoadOrder>) =>
        generator.ask<LoadFigures>({
          url,
          bodies,
          arrivals: { kind: 'closed' },
          connections,
          warmUpMs: 1_500,
          measureMs: 4_000,
          ...order
        })
      const pages = await measurePages(ask, url, bareUrl, print)
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

type Ask = (order: Partial<LoadOrder>) => Promise<LoadFigures>

/** Both servers in turn, at saturation and then at half of what each was seen to bear. */
async function measurePages(ask: Ask, url: string, bareUrl: string, print: (line: string) => void) {
  const saturated = { ours: [] as LoadFigures[], bare: [] as LoadFigures[] }
  for (let round = 0; round < rounds; round++) {
    saturated.bare.push(await ask({ url: bareUrl }))
    saturated.ours.push(await ask({ url }))
  }
  const rates = { ours: spread(saturated.ours.map(rateOf)), bare: spread(saturated.bare.map(rateOf)) }
  const ratios = spread(saturated.ours.map((figures, i) => figures.perSecond / rateOf(saturated.bare[i])))
  print(`  requests/s at saturation: ${format(rates.ours)}; bare node:http ${format(rates.bare)}`)
  print(`  ratio ${format(ratios, 2)} (goal: at least 0.50)`)
  const load = (all: readonly LoadFigures[]) => spread(all.map(({ generatorLoad }) => generatorLoad))
  print(
    `  the generator used ${format(load(saturated.ours), 2)} of its core; with bare node:http ${format(load(saturated.bare), 2)}`
  )

  const half = { ours: [] as LoadFigures[], bare: [] as LoadFigures[] }
  for (let round = 0; round < rounds; round++) {
    half.bare.push(
      await ask({
        url: bareUrl,
        arrivals: { kind: 'open', perSecond: rates.bare.median / 2 },
        connections: 256
      })
    )
    half.ours.push(
      await ask({ url, arrivals: { kind: 'open', perSecond: rates.ours.median / 2 }, connections: 256 })
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
