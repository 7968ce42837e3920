import type { Contender } from './contenders.ts'

/** Time of one call, in microseconds. */
export interface CallTimes {
  readonly p50: number
  readonly p99: number
}

const rounds = 20
const callsPerRound = 1_000
const warmUpCalls = 5_000

/**
 * Time per call of each contender, one call after another.
 *
 * Everyone is warmed up first; then the rounds go around, so that a slow moment of the machine meets all of them.
 */
export async function measureOverhead(
  contenders: readonly Contender[]
): Promise<ReadonlyMap<string, CallTimes>> {
  const times = new Map(contenders.map(({ name }) => [name, [] as number[]]))
  for (const { call } of contenders) {
    for (let count = 0; count < warmUpCalls; count++) await call()
  }
  for (let round = 0; round < rounds; round++) {
    for (const { name, call } of contenders) {
      const own = times.get(name) ?? []
      for (let count = 0; count < callsPerRound; count++) {
        const startMs = performance.now()
        await call()
        own.push((performance.now() - startMs) * 1_000)
      }
    }
  }
  return new Map([...times].map(([name, own]) => [name, percentiles(own)]))
}

function percentiles(values: number[]): CallTimes {
  values.sort((a, b) => a - b)
  const at = (share: number) => values[Math.floor(values.length * share)] ?? Number.NaN
  return { p50: at(0.5), p99: at(0.99) }
}
