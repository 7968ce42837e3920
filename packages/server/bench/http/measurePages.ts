import type { LoadFigures, LoadOrder } from './messages.ts'
import { formatSpread, spread } from './spread.ts'

const rounds = 3

/** What one order has shown of one server. */
export interface Measured extends LoadFigures {
  /** Processor time of the server, warm-up included. */
  readonly cpuMicrosPerAnswer: number
}

/** Gives one server a load; what is not said is pages of many accounts in a closed loop. */
export type Ask = (order?: Partial<LoadOrder>) => Promise<Measured>

/** Both servers in turn: at saturation, then at half of what each was seen to bear. */
export async function measurePages(askOurs: Ask, askBare: Ask, print: (line: string) => void) {
  const saturated = { ours: [] as Measured[], bare: [] as Measured[] }
  for (let round = 0; round < rounds; round++) {
    saturated.bare.push(await askBare())
    saturated.ours.push(await askOurs())
  }
  const rates = { ours: spread(saturated.ours.map(rateOf)), bare: spread(saturated.bare.map(rateOf)) }
  const ratios = spread(saturated.ours.map((figures, i) => figures.perSecond / rateOf(saturated.bare[i])))
  print(`  requests/s at saturation: ${formatSpread(rates.ours)}; bare node:http ${formatSpread(rates.bare)}`)
  print(`  ratio ${formatSpread(ratios, 2)} (goal: at least 0.50)`)
  const cpu = { ours: spread(saturated.ours.map(cpuOf)), bare: spread(saturated.bare.map(cpuOf)) }
  print(
    `  processor time per answer: ${formatSpread(cpu.ours)} us; bare node:http ${formatSpread(cpu.bare)} us`
  )
  const load = (all: readonly Measured[]) =>
    formatSpread(spread(all.map(figures => figures.generatorLoad)), 2)
  print(
    `  the generator used ${load(saturated.ours)} of its core; with bare node:http ${load(saturated.bare)}`
  )

  const half = { ours: [] as Measured[], bare: [] as Measured[] }
  const atHalf = ({ median }: { readonly median: number }): Partial<LoadOrder> => ({
    arrivals: { kind: 'open', perSecond: median / 2 },
    connections: 256
  })
  for (let round = 0; round < rounds; round++) {
    half.bare.push(await askBare(atHalf(rates.bare)))
    half.ours.push(await askOurs(atHalf(rates.ours)))
  }
  const p99 = { ours: spread(half.ours.map(p99Of)), bare: spread(half.bare.map(p99Of)) }
  const p99Ratios = spread(half.ours.map((figures, i) => p99Of(figures) / p99Of(half.bare[i])))
  print(`  p99 at half load: ${formatSpread(p99.ours, 2)} ms; bare node:http ${formatSpread(p99.bare, 2)} ms`)
  print(`  ratio ${formatSpread(p99Ratios, 2)} (goal: at most 3)`)
  return { rates, ratios, cpu, p99, p99Ratios, saturated, half }
}

const rateOf = (figures: LoadFigures | undefined) => figures?.perSecond ?? Number.NaN
const p99Of = (figures: LoadFigures | undefined) => figures?.latencyMs.p99 ?? Number.NaN
const cpuOf = ({ cpuMicrosPerAnswer }: Measured) => cpuMicrosPerAnswer
