import { randomUUID } from 'node:crypto'
import { transport } from '@chain-data/protocol'
import type { MaybePromise } from '../../platform/concurrency/maybePromise.ts'
import { isStream } from '../rpc/answerBody.ts'
import type { BodyStream, HttpAnswer, HttpHandler, HttpRequest } from './exchange.ts'

/** A request as it arrives, before any guard has checked it. */
export interface Arrival {
  /** The request itself; its body is not read yet. */
  readonly request: HttpRequest
  /** Names the request to its caller and in the log. */
  readonly requestId: string
  /** When it came, as `performance.now()` has it. */
  readonly cameMs: number
  /** Headers that the answer gets, whichever guard gives it. Guards add to them. */
  readonly answerHeaders: Record<string, string>
}

/** What a guard returns that answers the request itself. */
export class Answered {
  /** What the caller gets. */
  readonly answer: HttpAnswer

  /** Answers a request in place of the guards after. */
  constructor(answer: HttpAnswer) {
    this.answer = answer
  }
}

/**
 * One check of a request: lets it go on to the next guard, answers it, or throws the refusal that the caller gets. One that has
 * nothing to wait for returns no promise.
 *
 * @returns what it found out, which the guards after it know; `undefined`: nothing.
 */
export type Guard<Known extends object = Arrival, Found extends object = object> = (
  call: Known
) => MaybePromise<Found | Answered | undefined>

/** A guard, and what follows from it once the request has its answer. */
export interface Hooks<Known extends object = Arrival, Found extends object = object> {
  /** Absent: every request goes on. */
  readonly check?: Guard<Known, Found>
  /** Changes the answer of a request that went on, a refusal too, on its way back. What it throws is answered instead. */
  finish?(call: Known & Found, answer: HttpAnswer): MaybePromise<HttpAnswer>
  /** Gives back what it took for a request: once when the answer is read or dropped, or when a stream of events begins. */
  release?(call: Known & Found): void
}

/** The guards of a request, first to last. `Known` is what they have found out together. */
export interface GuardList<Known extends object> {
  /** Adds a guard at the end. It compiles only after the guards that find what it needs. */
  guard<Found extends object>(guard: Guard<Known, Found> | Hooks<Known, Found>): GuardList<Known & Found>
  /** Ends the list with the step that answers what passed every guard. */
  answer(last: (call: Known) => MaybePromise<HttpAnswer>): HttpHandler
}

/** Makes the answer of a request that was refused or failed. Does not throw. */
type AnswerFailure = (failure: unknown, requestId: string) => HttpAnswer

/**
 * Begins a list of guards, as hooks of Fastify: the checks of all run first to last, then what follows the answer last to first.
 * Every answer gets its request id and its headers.
 */
export function guardList(answerFailure: AnswerFailure): GuardList<Arrival> {
  return listOf([], answerFailure)
}

function listOf<Known extends object>(
  guards: readonly Hooks[],
  answerFailure: AnswerFailure
): GuardList<Known> {
  return {
    // The chained types above hold that each guard gets what it needs.
    guard: <Found extends object>(guard: Guard<Known, Found> | Hooks<Known, Found>) => {
      const hooks = typeof guard === 'function' ? { check: guard } : guard
      return listOf<Known & Found>([...guards, hooks as unknown as Hooks], answerFailure)
    },
    answer: last => async request => {
      const requestId = randomUUID()
      const answerHeaders: Record<string, string> = { ...transport.answerHeaders, 'x-request-id': requestId }
      const call: Arrival = { request, requestId, cameMs: performance.now(), answerHeaders }
      let passed = 0
      const check = async (): Promise<HttpAnswer> => {
        for (const guard of guards) {
          const checking = guard.check?.(call)
          const found = checking instanceof Promise ? await checking : checking
          if (found instanceof Answered) return found.answer
          passed++
          if (found !== undefined) Object.assign(call, found)
        }
        return last(call as unknown as Known)
      }
      const fail = (failure: unknown) => answerFailure(failure, requestId)
      const finish = (guard: Hooks, answer: HttpAnswer): MaybePromise<HttpAnswer> => {
        try {
          const finished = guard.finish?.(call, answer) ?? answer
          return finished instanceof Promise ? finished.catch(fail) : finished
        } catch (failure) {
          return fail(failure)
        }
      }

      let answer = await check().catch(fail)
      const behind = guards.slice(0, passed).reverse()
      for (const guard of behind) {
        const finished = finish(guard, answer)
        answer = finished instanceof Promise ? await finished : finished
      }
      const release = () => {
        for (const guard of behind) guard.release?.(call)
      }
      const { status, body, isEvents } = answer
      const headers = Object.assign(answerHeaders, answer.headers)
      if (isStream(body) && !isEvents) return { status, headers, body: watchBody(body, { ended: release }) }
      release()
      return { status, headers, body, isEvents }
    }
  }
}

/**
 * Returns the same body, watched.
 *
 * @param watch.ended - runs once, when the body is read to its end, fails, or is dropped.
 * @param watch.piece - takes each piece that was read.
 */
export function watchBody(
  body: BodyStream,
  watch: { ended(): void; piece?(piece: string | Uint8Array): void }
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
