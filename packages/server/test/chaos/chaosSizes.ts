/**
 * How large the suites of this folder are: short within `npm test`, full with `npm run test:chaos`, whose configuration
 * sets `CHAOS=full`. Both run the same files.
 */
export const isFull = process.env.CHAOS === 'full'

/** What random draws begin with; `SEED=<number>` repeats a run. */
export const seed = Number(process.env.SEED ?? 1)

const short = {
  faults: { blocks: 80, grown: 20 },
  faultsElsewhere: { blocks: 20, grown: 5 },
  reorgs: { count: 8, deeper: 2 },
  reorgsElsewhere: { count: 3, deeper: 1 },
  kills: { rounds: 5 },
  killsElsewhere: { rounds: 2 },
  promotions: { rounds: 2 }
}

const full: typeof short = {
  faults: { blocks: 2_000, grown: 200 },
  faultsElsewhere: { blocks: 300, grown: 50 },
  reorgs: { count: 200, deeper: 10 },
  reorgsElsewhere: { count: 60, deeper: 5 },
  kills: { rounds: 100 },
  killsElsewhere: { rounds: 20 },
  promotions: { rounds: 50 }
}

export const sizes = isFull ? full : short

/** One plain line of a suite's counts, with what repeats it. */
export function report(suite: string, counts: Readonly<Record<string, string | number>>): void {
  const repeat = `SEED=${seed} npm run ${isFull ? 'test:chaos' : 'test'} -- packages/server/test/${suite.includes('/') ? suite : `chaos/${suite}`}`
  const text = Object.entries(counts).map(([name, count]) => `${name} ${count}`)
  process.stdout.write(`chaos ${suite}: ${text.join(', ')} | repeat: ${repeat}\n`)
}

/** Says what a suite leaves out on one node, and why. */
export function reportSkipped(suite: string, node: string, what: string, reason: string): void {
  process.stdout.write(`chaos ${suite}: node ${node}, skipped: ${what}: ${reason}\n`)
}
