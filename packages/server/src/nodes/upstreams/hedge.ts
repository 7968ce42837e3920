import { openAbortScope } from '../../platform/concurrency/deadline.ts'
import { pause } from '../../platform/concurrency/pause.ts'

/** The budget for sending a slow read to a second upstream as well. */
export interface HedgeBudget {
  /** Notes one more exchange, of which a tenth may be hedged. */
  counted(): void
  /** Takes one hedge from the budget. @returns false when it is used up. */
  take(): boolean
}

/** At most this share of the exchanges, and no more than so many saved up from a quiet time. */
const share = 1 / 10
const maxSaved = 10

export function createHedgeBudget(): HedgeBudget {
  let budget = 0
  return {
    counted() {
      budget = Math.min(maxSaved, budget + share)
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
  /** Returns the duration beyond which a call is unusually slow; absent until enough calls of this kind were seen. */
  unusualAfterMs(kind: string): number | undefined
}

const samplesNeeded = 8
const weight = 1 / 8
/** Hedging quicker than this would gain nothing that a caller notices. */
const minMs = 20
/** Kinds are method names, of which we use a few dozen. */
const maxKinds = 64

/** Mean and mean deviation, as TCP times its retransmissions (RFC 6298). */
export function createUsualTimes(): UsualTimes {
  const times = new Map<string, { mean: number; deviation: number; samples: number }>()
  return {
    add(kind, durationMs) {
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
    unusualAfterMs(kind) {
      const known = times.get(kind)
      if (known === undefined || known.samples < samplesNeeded) return undefined
      return Math.max(minMs, known.mean + 4 * known.deviation)
    }
  }
}

export interface HedgedRead<T> {
  /** Never rejects. */
  first(signal: AbortSignal): Promise<T>
  /** How long the first upstream has the read alone. */
  readonly afterMs: number
  /** Called once the time is up; `undefined` for no second upstream. Never rejects. */
  second(): ((signal: AbortSignal) => Promise<T>) | undefined
  readonly signal: AbortSignal
  isSound(answer: T): boolean
}

/**
 * Gives a read that takes long to a second upstream as well; the first sound answer wins and the other read is aborted.
 * @returns the sound answer alone, or all answers when none is.
 */
export async function hedgeRead<T>({ first, second, afterMs, signal, isSound }: HedgedRead<T>): Promise<T[]> {
  const scopes = [openAbortScope([signal]), openAbortScope([signal])] as const
  try {
    const early = first(scopes[0].signal)
    if (await Promise.race([early.then(() => true), pause(afterMs, scopes[1].signal)])) return [await early]
    const late = signal.aborted ? undefined : second()?.(scopes[1].signal)
    if (late === undefined) return [await early]
    const sound = (answer: Promise<T>) =>
      new Promise<T>(resolve => {
        void answer.then(value => isSound(value) && resolve(value))
      })
    const all = Promise.all([early, late])
    const winner = await Promise.race([sound(early), sound(late), all.then(() => undefined)])
    return winner === undefined ? await all : [winner]
  } finally {
    for (const scope of scopes) scope.end()
  }
}
