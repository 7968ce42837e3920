import type { Random } from '../../../devnet/src/platform/createRandom.ts'
import type { ServerPlan } from './simulatedServer.ts'

/** Draws how a server works: small epochs and little undo data, so that a short chain has merges, and rollbacks with and without. */
export function drawPlan(random: Random): ServerPlan {
  const minUndoBlocks = random.pick([2, 4, 256])
  return {
    pollIntervalMs: random.pick([500, 1_000, 4_000]),
    window: random.pick([1, 4, 32]),
    roundBlocks: random.pick([3, 2_000]),
    recentBlocks: random.pick([1, 3, 256]),
    lowerHeadGraceMs: random.pick([0, 2_000, 30_000]),
    layout: {
      epochTransactions: random.pick([3, 10, 100_000]),
      mergeFanOut: 2,
      mergeRows: random.pick([2, 50]),
      maxEpochs: random.pick([2, 128]),
      mergeAfterMs: random.pick([250, 1_000]),
      minUndoBlocks,
      maxUndoBlocks: minUndoBlocks * random.pick([2, 32]),
      changeLogBlocks: random.pick([3, 10_000, 10_000])
    }
  }
}
