import { randomUUID } from 'node:crypto'
import { isStream } from '../rpc/answerBody.ts'
import type { BodyStream, HttpAnswer, HttpHandler, HttpRequest } from './exchange.ts'

/** A request as it arrives, before any guard has checked it. */
export interface Arrival {
  readonly request: HttpRequest
  /** Names the request to its caller and in the log. */
  readonly requestId: string
  /** Headers that the answer gets, whichever guard gives it. Guards add to them. */
  readonly answerHeaders: Record<string, string>
}

/**
 * One check of a request. It goes on to the next guard with what it found out, answers the request itself, or throws
 * the refusal that the caller gets. What `next` resolves to is the answer, which a guard may change on its way back.
 */
export type Guard<Known extends object = Arrival, Found extends object = object> = (
  call: Known,
  next: (found: Found) => Promise<HttpAnswer>
) => Promise<HttpAnswer>

/** The guards of a request, first to last. `Known` is what they have found out together. */
export interface GuardList<Known extends object> {
  /** Adds a guard at the end. It compiles only after the guards that find what it needs. */
  guard<Found extends object>(guard: Guard<Known, Found>): GuardList<Known & Found>
  /** Ends the list with the step that answers what passed every guard. */
  answer(last: (call: Known) => Promise<HttpAnswer>): HttpHandler
}

type Step = (call: Arrival, next: (found: object) => Promise<HttpAnswer>) => Promise<HttpAnswer>

/** Begins a list of guards, as middleware of Koa and Hono: each one is a function around all that follow it. */
export function guardList(): GuardList<Arrival> {
  return listOf([])
}

function listOf<Known extends object>(steps: readonly Step[]): GuardList<Known> {
  return {
    // The chained types above hold that each step gets what it needs.
    guard: <Found extends object>(guard: Guard<Known, Found>) =>
      listOf<Known & Found>([...steps, guard as unknown as Step]),
    answer: last => request => {
      const call = { request, requestId: randomUUID(), answerHeaders: {} }
      const take = (index: number): Promise<HttpAnswer> => {
        const step = steps[index]
        const next = (found: object) => {
          Object.assign(call, found)
          return take(index + 1)
        }
        try {
          return step === undefined ? last(call as unknown as Known) : step(call, next)
        } catch (error) {
          // What a guard throws before its first await is a rejection too.
          return Promise.reject(error)
        }
      }
      return take(0)
    }
  }
}

/** Runs `end` once: when the answer is sent or dropped, when there is none, or when a stream of events begins. */
export function holdUntilEnd(answering: Promise<HttpAnswer>, end: () => void): Promise<HttpAnswer> {
  return answering.then(
    answer => {
      if (isStream(answer.body) && !answer.isEvents)
        return { ...answer, body: watchBody(answer.body, { ended: end }) }
      end()
      return answer
    },
    failure => {
      end()
      throw failure
    }
  )
}

/**
 * Returns the same body, watched.
 *
 * @param watch.ended - runs once, when the body is read to its end, fails, or is dropped.
 * @param watch.before - runs before each piece is read; what it throws fails the body.
 * @param watch.piece - takes each piece that was read.
 */
export function watchBody(
  body: BodyStream,
  watch: { ended(): void; before?(): void; piece?(piece: string | Uint8Array): void }
): BodyStream {
  let hasEnded = false
  const end = () => {
    if (hasEnded) return
    hasEnded = true
    watch.ended()
  }
  return {
    async next() {
      try {
        watch.before?.()
        const next = await body.next()
        if (next.done) end()
        else watch.piece?.(next.value)
        return next
      } catch (error) {
        end()
        throw error
      }
    },
    async return() {
      try {
        return await body.return()
      } finally {
        end()
      }
    }
  }
}
