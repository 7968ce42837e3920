import type { Random } from '../../../devnet/src/platform/createRandom.ts'
import type { ServerPlan } from './simulatedServer.ts'

/** Draws how a server works: small runs, so that a short chain has merges, and rollbacks that remove runs and that cut them. */
export function drawPlan(random: Random): ServerPlan {
  return {
    pollIntervalMs: random.pick([500, 1_000, 4_000]),
    window: random.pick([1, 4, 32]),
    roundBlocks: random.pick([3, 2_000]),
    recentBlocks: random.pick([1, 3, 256]),
    lowerHeadGraceMs: random.pick([0, 2_000, 30_000]),
    layout: {
      mergeFactor: random.pick([2, 3]),
      unmergedBlocks: random.pick([0, 2, 12]),
      pieceRows: random.pick([2, 50]),
      pieceChunks: random.pick([1, 1_000]),
      maxFiltered: random.pick([0, 5, 1_000_000]),
      resealTransactions: random.pick([2, 32_768]),
      maxRuns: random.pick([2, 32]),
      mergeAfterMs: random.pick([250, 1_000]),
      changeLogBlocks: random.pick([3, 10_000, 10_000])
    }
  }
}
