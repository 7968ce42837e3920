import { createErrorObject } from '@chain-data/protocol'
import { errorAnswer } from '../guards/errorAnswer.ts'
import type { HttpAnswer } from '../guards/exchange.ts'
import { Answered, type Hooks } from '../guards/guards.ts'
import type { Caller } from '../projects/createKeyRing.ts'
import { RequestQueue } from './requestQueue.ts'
import type { Identified } from './share.ts'

/** The reason why a request was shed before it was read. */
type ShedCause = 'closing' | 'in_flight' | 'delay'

/** The in-flight cap and the shedding of load. */
export interface Overload {
  /** Guard: begins a request once the queue lets it, unless the server has too much to do. */
  readonly guard: Hooks<Identified>
  /** Waits until more work of a request that has begun may be done; see `CallOrigin.nextTurn`. */
  nextTurn(caller: Caller, had: number): Promise<undefined> | undefined
  /** Requests begun whose answer is not complete. */
  inFlight(): number
  /** Guard: asks for every connection to be ended once the server drains; callers that keep theirs would go on calling. */
  readonly endConnections: Hooks
  /** Stops keeping connections; requests are still begun. */
  beginDraining(): void
  isDraining(): boolean
  /** Refuses every further request, too. */
  beginClosing(): void
  /** For the metrics: requests refused, the wait of a request that came now, and how late the process comes to one. */
  figures(): {
    readonly shed: Readonly<Record<ShedCause, number>>
    readonly queueMs: number
    readonly loopDelayMs: number
  }
  /** Requests wait for long: work that can be left out should be. Never where load is not shed. */
  isBusy(): boolean
  /** Stops measuring. */
  stop(): void
}

const tickMs = 20
/** Part of `delayMs` from which on requests wait for long: before load is shed. */
const busyShare = 1 / 4
const shortestWaitMs = 1_000
const longestWaitMs = 3_000
/** Refusals are made once, so that each costs as little as it can. */
const differentWaits = 16

/**
 * Sheds load so that what is admitted is answered in time. A request waits in the queue, and before that until the event
 * loop comes to it. While the longer of the two waits is up to `delayMs` everything is admitted, from twice that on
 * nothing, and in between a growing part, which keeps the wait there.
 *
 * The heaviest callers come first in that: each one waits for its own requests and as many of each other caller, and the
 * delay of the event loop counts only for those with at least the average of the turns lately. The turns of the others did not
 * cause it.
 *
 * @param options.delayMs - how long requests may wait in the queue; `false`: load is not shed.
 * @param options.onShed - called for every refusal.
 * @param options.every - runs a function again and again; absent: an interval that does not keep the process alive.
 * @param options.random - from 0 to below 1.
 * @remarks Requests in flight times the time that each one takes would be no measure of the wait: most of that time is
 *   spent waiting for a node, while others are served. The waits that refusals name are spread, so that callers do not
 *   return together; they are at least a second, by when a delay is gone or still seen.
 */
export function createOverload(options: {
  readonly requestsInFlight: number
  readonly delayMs: number | false
  readonly onShed: () => void
  readonly queue?: Pick<RequestQueue, keyof RequestQueue>
  readonly now?: () => number
  readonly every?: (tick: () => void, ms: number) => () => void
  readonly random?: () => number
}): Overload {
  const { requestsInFlight, delayMs, onShed, random = Math.random } = options
  const { queue = new RequestQueue(), now = () => performance.now(), every = onInterval } = options
  const delay = measureLoopDelay(now, every)
  const refusals = {
    in_flight: refusalsOf('The server has too many requests at once.'),
    delay: refusalsOf('The server is overloaded.')
  }
  const closed = refusalOf('The server is shutting down.', shortestWaitMs)
  const closing = { ...closed, headers: { ...closed.headers, connection: 'close' } }
  const shed = { closing: 0, in_flight: 0, delay: 0 }
  let inFlight = 0
  let isDraining = false
  let isClosing = false

  function causeToShed(caller: string): ShedCause | undefined {
    if (isClosing) return 'closing'
    if (inFlight >= requestsInFlight) return 'in_flight'
    if (delayMs === false) return undefined
    const lateMs = delay.lasting(3 * delayMs)
    const ownMs = lateMs > delayMs && queue.isHeavy(caller) ? lateMs : 0
    const excess = Math.max(queue.expectedWaitMs(caller), ownMs) - delayMs
    return excess > 0 && random() * delayMs < excess ? 'delay' : undefined
  }

  return {
    guard: {
      check({ caller }) {
        queue.arrived()
        const name = nameOf(caller)
        const cause = causeToShed(name)
        if (cause !== undefined) {
          shed[cause]++
          onShed()
          if (cause === 'closing') return new Answered(closing)
          return new Answered(refusals[cause][Math.floor(random() * differentWaits)] ?? closed)
        }
        inFlight++
        return queue.enter(name)
      },
      release() {
        inFlight--
      }
    },
    nextTurn: (caller, had) => queue.enter(nameOf(caller), had),
    endConnections: {
      // Not before: draining may begin meanwhile.
      finish({ answerHeaders }, answer) {
        if (isDraining) answerHeaders.connection = 'close'
        return answer
      }
    },
    inFlight: () => inFlight,
    beginDraining() {
      isDraining = true
    },
    isDraining: () => isDraining,
    beginClosing() {
      isDraining = true
      isClosing = true
    },
    isBusy: () =>
      delayMs !== false && Math.max(queue.expectedWaitMs(), delay.current()) > delayMs * busyShare,
    figures: () => ({ shed: { ...shed }, queueMs: queue.expectedWaitMs(), loopDelayMs: delay.current() }),
    stop: delay.stop
  }
}

/** Web pages and backends of a project are two callers, as for its quota. */
function nameOf({ kind, projectId }: Caller): string {
  return `${kind}:${projectId}`
}

/**
 * Measures how late a timer fires. In a round of the event loop every socket with something to read has its turn, so
 * that a request has waited for about as long as the round has lasted when its turn comes, and the timer with it.
 */
function measureLoopDelay(now: () => number, every: (tick: () => void, ms: number) => () => void) {
  let lastTickMs = now()
  let last = 0
  let beforeLast = 0
  const overdue = () => Math.max(0, now() - lastTickMs - tickMs)
  const stop = every(() => {
    beforeLast = last
    last = overdue()
    lastTickMs = now()
  }, tickMs)
  return {
    stop,
    /** How late the timer is, in milliseconds: now, or in the last round of the event loop. */
    current: () => Math.max(overdue(), last),
    /**
     * The delay that has lasted for more than one round of the event loop, so that one long garbage collection counts as
     * nothing; of a longer delay than `alwaysMs` the excess counts in its first round already.
     */
    lasting(alwaysMs: number) {
      const late = overdue()
      return Math.max(Math.min(last, beforeLast), Math.min(late, last), late - alwaysMs)
    }
  }
}

function onInterval(tick: () => void, ms: number): () => void {
  const timer = setInterval(tick, ms)
  timer.unref()
  return () => clearInterval(timer)
}

function refusalsOf(extraMessage: string): readonly HttpAnswer[] {
  const step = (longestWaitMs - shortestWaitMs) / (differentWaits - 1)
  return Array.from({ length: differentWaits }, (_, index) =>
    refusalOf(extraMessage, Math.round(shortestWaitMs + index * step))
  )
}

function refusalOf(extraMessage: string, retryAfterMs: number): HttpAnswer {
  const error = createErrorObject('OVERLOADED', { extraMessage, retryAfterMs })
  return errorAnswer({ reason: 'OVERLOADED', error })
}
