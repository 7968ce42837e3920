import type { Logger } from '../../platform/logger.ts'
import { Refusal } from '../../platform/refusal.ts'
import type { BodyStream, HttpAnswer } from '../guards/exchange.ts'
import type { Hooks } from '../guards/guards.ts'
import type { Counts } from '../metrics/counts.ts'
import { isStream } from '../rpc/answerBody.ts'
import type { LoggedIn } from './login.ts'
import { createShares, type Identified } from './share.ts'

/** Why a stream of events ended: its caller left or took nothing, its key ended, the server ends, or it cannot be read on. */
type StreamEnd = 'caller' | 'slow' | 'revoked' | 'closing' | 'failed'

/** The streams of events of a server. */
export interface StreamBound {
  /** Guard: holds each caller to its share of the streams, and ends those whose credentials are not good any more. */
  readonly guard: Hooks<Identified & LoggedIn>
  /** Ends all of them, with a comment that says so. */
  endAll(): void
  open(): number
}

/** What a stream says last. Its caller connects again, and gets the reason as an answer where there is one. */
const farewells = {
  revoked: ': the key is not valid any more\n\n',
  closing: ': the server is shutting down, connect again\n\n'
}

/**
 * Bounds streams of events. A stream is no request under way and takes no view of the store, but a connection and memory: so there
 * are `streams` of them at most, of which each caller has the same share as of the requests.
 *
 * @param options.idleMs - a caller that took nothing for so long is cut off by its listener, and counts as slow.
 */
export function boundStreams(options: {
  readonly streams: number
  readonly idleMs: number
  readonly counts: Pick<Counts, 'countStreamEnd'>
  readonly logger: Logger
}): StreamBound {
  const { streams, idleMs, counts, logger } = options
  const shares = createShares(streams)
  const open = new Set<(reason: keyof typeof farewells) => void>()
  let isClosing = false

  function bound(call: Identified & LoggedIn, answer: HttpAnswer, body: BodyStream): HttpAnswer {
    const giveBack = open.size < streams ? shares(call) : undefined
    if (giveBack === undefined) {
      body.return().catch(() => {})
      throw new Refusal('RATE_LIMITED', 'Too many streams of this caller are open.', { retryAfterMs: 10_000 })
    }
    const { requestId, caller, isStillCaller } = call
    const startedMs = performance.now()
    let farewell: string | undefined
    let end: StreamEnd | undefined
    /** Since when a piece waits to be taken; absent while the caller waits for one. */
    let untakenMs: number | undefined = startedMs
    const finish = (reason: StreamEnd) => {
      if (end !== undefined) return
      end = reason
      open.delete(endNow)
      giveBack()
      counts.countStreamEnd(reason)
      const durationMs = Math.round(performance.now() - startedMs)
      logger.debug('stream of events ended', { requestId, projectId: caller.projectId, reason, durationMs })
    }
    const endNow = (reason: keyof typeof farewells) => {
      farewell = farewells[reason]
      finish(reason)
      body.return().catch(() => {})
    }
    open.add(endNow)
    if (isClosing) endNow('closing')
    const watched: BodyStream = {
      async next() {
        untakenMs = undefined
        try {
          const next = await body.next()
          if (!next.done && end === undefined && !(await isStillCaller())) endNow('revoked')
          if (farewell !== undefined) {
            const value = farewell
            farewell = undefined
            return { done: false, value }
          }
          if (next.done || end !== undefined) {
            finish('failed')
            return { done: true, value: undefined }
          }
          return next
        } catch (error) {
          finish('failed')
          throw error
        } finally {
          untakenMs = performance.now()
        }
      },
      return() {
        const isSlow = untakenMs !== undefined && performance.now() - untakenMs >= idleMs * slowShare
        finish(isSlow ? 'slow' : 'caller')
        return body.return()
      }
    }
    return { ...answer, body: watched }
  }

  return {
    guard: {
      finish: (call, answer) =>
        answer.isEvents && isStream(answer.body) ? bound(call, answer, answer.body) : answer
    },
    endAll() {
      isClosing = true
      for (const end of [...open]) end('closing')
    },
    open: () => open.size
  }
}

/** Listeners read a piece ahead, and the time of a caller runs from the piece before that. */
const slowShare = 1 / 2
