import type { Ask, Measured } from './measurePages.ts'
import { formatSpread, spread } from './spread.ts'

const rounds = 3
/** Far more than the server has answered by the time it refuses: it is not the connections that hold callers back. */
const connections = 4_000
const windowMs = 250
const windows = 16

/** Three times as many pages as the server can answer, and how soon half as many are served well after that. */
export async function measureOverload(ask: Ask, print: (line: string) => void) {
  const saturations: number[] = []
  const overloaded: Measured[] = []
  const recoveriesMs: number[] = []
  for (let round = 0; round < rounds; round++) {
    const { perSecond } = await ask()
    saturations.push(perSecond)
    overloaded.push(
      await ask({ arrivals: { kind: 'open', perSecond: 3 * perSecond, isImpatient: true }, connections })
    )
    recoveriesMs.push(await recoveryMs(ask, perSecond / 2))
  }
  const p99 = spread(overloaded.map(({ latencyMs }) => latencyMs.p99))
  const goodput = spread(overloaded.map(({ perSecond }, round) => perSecond / (saturations[round] ?? 0)))
  const recovery = spread(recoveriesMs)
  print(`  at three times saturation: p99 of what is admitted ${formatSpread(p99)} ms (goal: at most 1000)`)
  print(`  answered in full: ${formatSpread(goodput, 2)} of saturation; outcomes of each round:`)
  for (const { outcomes } of overloaded) print(`    ${JSON.stringify(outcomes)}`)
  print(`  recovery ${formatSpread(recovery)} ms (goal: at most 2000)`)
  return { p99, goodput, recovery, saturations, overloaded }
}

/** Until the last stretch of half load in which a page was refused, or a hundredth of them took more than 250 ms. */
async function recoveryMs(ask: Ask, perSecond: number): Promise<number> {
  const startedMs = performance.now()
  let recoveredMs = 0
  for (let window = 0; window < windows; window++) {
    const { outcomes, latencyMs } = await ask({
      arrivals: { kind: 'open', perSecond },
      connections: 256,
      warmUpMs: 0,
      measureMs: windowMs
    })
    const isFine = Object.keys(outcomes).every(status => status === '200') && latencyMs.p99 <= windowMs
    if (!isFine) recoveredMs = performance.now() - startedMs
  }
  return recoveredMs
}
