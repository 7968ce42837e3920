/** At most this share of the exchanges, and no more than so many saved up from a quiet time. */
const share = 1 / 10
const maxSaved = 10

/** Creates the budget for sending a slow read to a second upstream as well. */
export function createHedgeBudget() {
  let budget = 0
  return {
    /** Notes one more exchange, of which a tenth may be hedged. */
    counted(): void {
      budget = Math.min(maxSaved, budget + share)
    },
    /** Takes one hedge from the budget. @returns false when it is used up. */
    take(): boolean {
      // A sum of tenths falls short of the whole by its rounding.
      if (budget < 1 - 1e-9) return false
      budget -= 1
      return true
    }
  }
}

/** Holds how long one upstream usually takes, for each kind of call. */
export type UsualTimes = ReturnType<typeof createUsualTimes>

const samplesNeeded = 8
const weight = 1 / 8
/** Hedging quicker than this would gain nothing that a caller notices. */
const minMs = 20
/** Kinds are method names, of which we use a few dozen. */
const maxKinds = 64

/** Mean and mean deviation, as TCP times its retransmissions (RFC 6298). */
export function createUsualTimes() {
  const times = new Map<string, { mean: number; deviation: number; samples: number }>()
  return {
    add(kind: string, durationMs: number): void {
      const known = times.get(kind)
      if (known === undefined) {
        if (times.size < maxKinds)
          times.set(kind, { mean: durationMs, deviation: durationMs / 2, samples: 1 })
        return
      }
      known.deviation += (Math.abs(durationMs - known.mean) - known.deviation) * weight
      known.mean += (durationMs - known.mean) * weight
      known.samples++
    },
    /** Returns the duration beyond which a call is unusually slow; absent until enough calls of this kind were seen. */
    unusualAfterMs(kind: string): number | undefined {
      const known = times.get(kind)
      if (known === undefined || known.samples < samplesNeeded) return undefined
      return Math.max(minMs, known.mean + 4 * known.deviation)
    }
  }
}
