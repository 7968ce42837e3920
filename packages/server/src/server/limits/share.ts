import { createKeyedPermits } from '../../platform/concurrency/permits.ts'
import { Refusal } from '../../platform/refusal.ts'
import type { BodyStream, HttpAnswer } from '../guards/exchange.ts'
import { type Arrival, type Hooks, watchBody } from '../guards/guards.ts'
import type { Caller } from '../projects/createKeyRing.ts'
import { isStream } from '../rpc/answerBody.ts'

/** Shares of the in-flight cap. */
const parts = {
  /** The server keys of a project: also a service for one project only should get most of it. */
  server: 3 / 4,
  /** The client keys of a project, which every visitor of its pages has. */
  client: 1 / 4,
  /** One address with the client keys of a project. */
  address: 1 / 20
}
/** Wait that a refusal names: it is not known when the caller has room again. */
const retryAfterMs = 1_000

/** A request whose caller and address earlier guards have found. */
export interface Identified extends Arrival {
  readonly caller: Caller
  /** Absent where it is not known; then no address has a share of its own. */
  readonly address: string | undefined
}

/**
 * Guard: holds each caller to its share of the requests that may be under way at once, so that no caller takes them all:
 * a quota counts requests as they begin, and one that is sent or read slowly lasts.
 *
 * Long answers hold a view of the store each, of which there are few, and whoever does not read holds it for long. So
 * an answer that is written in pieces takes room in the caller's share of `answersAtOnce` from its first piece to its last.
 *
 * @remarks Each share is one at least. Nothing is kept of callers that have nothing under way.
 */
export function shareRequests(limits: {
  readonly requestsInFlight: number
  readonly answersAtOnce: number
}): Hooks<Identified, { readonly giveBack: () => void }> {
  const requests = createShares(limits.requestsInFlight)
  const answers = createShares(limits.answersAtOnce)

  async function boundLong(call: Identified, answer: HttpAnswer, body: BodyStream): Promise<HttpAnswer> {
    const giveBack = answers(call)
    if (giveBack === undefined) {
      await body.return()
      throw tooMany('Too many long answers to this caller are being written.')
    }
    return { ...answer, body: watchBody(body, { ended: giveBack }) }
  }

  return {
    check(call) {
      const giveBack = requests(call)
      if (giveBack === undefined) throw tooMany('Too many requests of this caller are under way.')
      return { giveBack }
    },
    finish: (call, answer) =>
      isStream(answer.body) && !answer.isEvents ? boundLong(call, answer, answer.body) : answer,
    release: ({ giveBack }) => giveBack()
  }
}

/** Takes room for one of `total`; the function that comes back gives it back, once. */
export function createShares(total: number): (call: Identified) => (() => void) | undefined {
  const permits = createKeyedPermits()
  const largest = (kind: keyof typeof parts) => Math.ceil(parts[kind] * total)
  return ({ caller: { kind, projectId }, address }) => {
    const ofProject = [`${kind}:${projectId}`, largest(kind)] as const
    if (kind === 'server' || address === undefined) return permits.take([ofProject])
    return permits.take([ofProject, [`address:${address}:${projectId}`, largest('address')]])
  }
}

function tooMany(message: string): Refusal {
  return new Refusal('RATE_LIMITED', message, { retryAfterMs })
}
