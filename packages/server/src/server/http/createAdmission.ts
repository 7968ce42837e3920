import { createErrorObject, transport } from '@chain-data/protocol'
import { failureText } from '../rpc/envelope.ts'
import type { HttpAnswer } from './exchange.ts'
import type { LoopDelay } from './loopDelay.ts'
import type { RequestQueue } from './requestQueue.ts'

/** Why a request was refused before anything of it was looked at. */
export type ShedCause = 'closing' | 'in_flight' | 'delay'

/** What the metrics tell of it. */
export interface AdmissionFigures {
  readonly shed: Readonly<Record<ShedCause, number>>
  /** How long a request that came now would wait for its turn. */
  readonly queueMs: number
  /** How late the process comes to a request. */
  readonly loopDelayMs: number
}

/** Decides which RPC requests are begun. */
export interface Admission {
  /**
   * Begins a request when its turn has come, unless the server has too much to do.
   *
   * @returns a refusal to be sent as it is; `undefined` for a request that was begun and must be ended.
   */
  begin(): HttpAnswer | undefined | Promise<undefined>
  end(): void
  /** Requests begun and not ended. */
  inFlight(): number
  /** From now on everything is refused. */
  beginClosing(): void
  figures(): AdmissionFigures
}

const shortestWaitMs = 1_000
const longestWaitMs = 3_000
/** Made once: a refusal must cost as little as it can. */
const differentWaits = 16

/**
 * Sheds load so that what is admitted is answered in time. A request waits in the queue, and before that until the event
 * loop comes to it. While the longer of the two is up to `delayMs` everything is admitted, from twice that on nothing, and
 * in between a growing part: so many as keep the wait there, without turns of all and nothing.
 *
 * @param options.delayMs - how long requests may wait for their turn; `false`: they may wait for ever.
 * @param options.random - from 0 to below 1.
 * @remarks Requests in flight times the time that each one takes would be no measure of the wait: most of that time is
 *   spent waiting for a node, while others are served. Waiting times are spread, so that callers do not return
 *   together; they are never shorter than a second, and a delay has gone by then or is still seen.
 */
export function createAdmission(options: {
  readonly requestsInFlight: number
  readonly delayMs: number | false
  readonly delay: LoopDelay
  readonly queue: RequestQueue
  readonly random?: () => number
}): Admission {
  const { requestsInFlight, delayMs, delay, queue, random = Math.random } = options
  const refusals = {
    in_flight: prepare('The server has too many requests at once.'),
    delay: prepare('The server is overloaded.')
  }
  const closing = refusal('The server is shutting down.', shortestWaitMs, { connection: 'close' })
  const shed = { closing: 0, in_flight: 0, delay: 0 }
  let inFlight = 0
  let isClosing = false

  return {
    begin() {
      queue.arrived()
      const cause = causeToShed()
      if (cause === undefined) {
        inFlight++
        return queue.enter()
      }
      shed[cause]++
      if (cause === 'closing') return closing
      return refusals[cause][Math.floor(random() * differentWaits)]
    },
    end() {
      inFlight--
    },
    inFlight: () => inFlight,
    beginClosing() {
      isClosing = true
    },
    figures: () => ({ shed: { ...shed }, queueMs: queue.expectedWaitMs(), loopDelayMs: delay.current() })
  }

  function causeToShed(): ShedCause | undefined {
    if (isClosing) return 'closing'
    if (inFlight >= requestsInFlight) return 'in_flight'
    if (delayMs === false) return undefined
    const waitMs = Math.max(queue.expectedWaitMs(), delay.lasting(3 * delayMs))
    const excess = waitMs - delayMs
    return excess > 0 && random() * delayMs < excess ? 'delay' : undefined
  }
}

function prepare(extraMessage: string): readonly HttpAnswer[] {
  const step = (longestWaitMs - shortestWaitMs) / (differentWaits - 1)
  return Array.from({ length: differentWaits }, (_, index) =>
    refusal(extraMessage, Math.round(shortestWaitMs + index * step))
  )
}

function refusal(
  extraMessage: string,
  retryAfterMs: number,
  headers: Readonly<Record<string, string>> = {}
): HttpAnswer {
  const error = createErrorObject('OVERLOADED', { extraMessage, retryAfterMs })
  return {
    status: 503,
    headers: {
      'content-type': transport.responseContentType,
      'retry-after': String(Math.ceil(retryAfterMs / 1_000)),
      ...headers
    },
    body: failureText({ idText: undefined }, error)
  }
}
