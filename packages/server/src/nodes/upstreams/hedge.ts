/** When a read is sent to a second upstream as well. */
export interface Hedge {
  /** One more exchange, of which a tenth may be hedged. */
  counted(): void
  /** Takes one from the budget. @returns false when it is used up. */
  take(): boolean
}

/** At most this share of the exchanges, and no more than so many saved up from a quiet time. */
const share = 1 / 10
const mostSaved = 10

export function createHedge(): Hedge {
  let budget = 0
  return {
    counted() {
      budget = Math.min(mostSaved, budget + share)
    },
    take() {
      // A sum of tenths falls short of the whole by its rounding.
      if (budget < 1 - 1e-9) return false
      budget -= 1
      return true
    }
  }
}

/** How long one upstream usually takes, for each kind of call. */
export interface UsualTimes {
  add(kind: string, durationMs: number): void
  /** Longer than this is unusual; absent until enough calls of this kind were seen. */
  unusualAfterMs(kind: string): number | undefined
}

const samplesNeeded = 8
const weight = 1 / 8
/** Hedging quicker than this would gain nothing that anybody notices. */
const leastMs = 20
/** Kinds are method names, of which we use a few dozen. */
const mostKinds = 64

/** Mean and mean deviation, as TCP times its retransmissions (RFC 6298). */
export function createUsualTimes(): UsualTimes {
  const times = new Map<string, { mean: number; deviation: number; samples: number }>()
  return {
    add(kind, durationMs) {
      const known = times.get(kind)
      if (known === undefined) {
        if (times.size < mostKinds)
          times.set(kind, { mean: durationMs, deviation: durationMs / 2, samples: 1 })
        return
      }
      known.deviation += (Math.abs(durationMs - known.mean) - known.deviation) * weight
      known.mean += (durationMs - known.mean) * weight
      known.samples++
    },
    unusualAfterMs(kind) {
      const known = times.get(kind)
      if (known === undefined || known.samples < samplesNeeded) return undefined
      return Math.max(leastMs, known.mean + 4 * known.deviation)
    }
  }
}
