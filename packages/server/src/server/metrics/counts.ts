import { createHistogram, type Histogram } from '../../platform/figures.ts'

/** Upper bounds, in seconds, that the metrics page shows of the durations of calls. */
export const shownCallBounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25]

/** Upper bounds, in seconds, that calls are counted by: each at most a fifth above the one before, so that no percentile is off by more. */
export const callBounds = [
  ...shownCallBounds,
  ...Array.from({ length: 78 }, (_, n) => 0.00005 * 1.2 ** n)
].sort((a, b) => a - b)

/** Calls of one method since the start. */
interface CallCounts {
  /** By outcome: `ok`, or the reason of the error. */
  readonly outcomes: ReadonlyMap<string, number>
  /** In seconds, by {@link callBounds}. */
  readonly durations: Pick<Histogram, 'read'>
}

/**
 * The counts of the server's callers, made once for the metrics page and the status page. Its memory is bounded by the
 * number of methods and reasons, whatever is counted.
 */
export interface Counts {
  /** Counts one JSON-RPC call, each entry of a batch by itself. `outcome` is `ok` or the error's reason. */
  countCall(call: { readonly method: string; readonly outcome: string; readonly durationMs: number }): void
  /** Counts a request refused before it became a call. */
  countRefusal(reason: string): void
  /** Counts a call that met a damaged part of a chain's index. */
  countDamage(damage: { readonly chainId: number; readonly part: string }): void
  /** Counts an HTTP answer that has begun. */
  countAnswer(status: number): void
  /** Counts bytes of an answer's body that were handed on to be sent. */
  countSent(bytes: number): void
  /** Counts an answer that is written piece by piece and has begun. */
  beginStream(): void
  /** Counts the end of such an answer, however it ended. */
  endStream(): void
  /** Counts the end of a stream of events. */
  countStreamEnd(reason: string): void
  /** By method name in the document; `unknown`: methods that are not served. */
  readonly calls: ReadonlyMap<string, CallCounts>
  /** By reason. */
  readonly refusals: ReadonlyMap<string, number>
  /** By chain, then by part of the index. */
  readonly damages: ReadonlyMap<number, ReadonlyMap<string, number>>
  /** By status. */
  readonly answers: ReadonlyMap<string, number>
  /** Ended streams of events, by reason. */
  readonly streamEnds: ReadonlyMap<string, number>
  sentBytes(): number
  openStreams(): number
}

/** Counts from 0. One per server, so that two servers in one process do not mix. */
export function createCounts(): Counts {
  const calls = new Map<string, { outcomes: Map<string, number>; durations: Histogram }>()
  const refusals = new Map<string, number>()
  const answers = new Map<string, number>()
  const streamEnds = new Map<string, number>()
  const damages = new Map<number, Map<string, number>>()
  let sentBytes = 0
  let openStreams = 0
  return {
    countCall({ method, outcome, durationMs }) {
      const known = calls.get(method) ?? { outcomes: new Map(), durations: createHistogram(callBounds) }
      calls.set(method, known)
      increment(known.outcomes, outcome)
      known.durations.note(durationMs / 1_000)
    },
    countRefusal: reason => increment(refusals, reason),
    countDamage({ chainId, part }) {
      const parts = damages.get(chainId) ?? new Map<string, number>()
      damages.set(chainId, parts)
      increment(parts, part)
    },
    countAnswer: status => increment(answers, String(status)),
    countSent(bytes) {
      sentBytes += bytes
    },
    beginStream() {
      openStreams++
    },
    endStream() {
      openStreams--
    },
    countStreamEnd: reason => increment(streamEnds, reason),
    ...{ calls, refusals, answers, damages, streamEnds },
    sentBytes: () => sentBytes,
    openStreams: () => openStreams
  }
}

function increment(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1)
}

/**
 * @param durations - how many calls took how long, by {@link callBounds}.
 * @returns the milliseconds within which this part of the calls was answered, to two digits; `undefined` without calls.
 */
export function percentile(durations: readonly number[], part: number): number | undefined {
  const total = durations.reduce((sum, count) => sum + count, 0)
  if (total === 0) return undefined
  let seen = 0
  const index = durations.findIndex(count => {
    seen += count
    return seen >= Math.ceil(total * part)
  })
  return Number(((callBounds[index] ?? callBounds.at(-1) ?? 0) * 1_000).toPrecision(2))
}
