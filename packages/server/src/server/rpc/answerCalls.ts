import { createErrorObject, type ErrorReason, errors } from '@chain-data/protocol'
import type { AnswerCoverage } from '../../model/coverage.ts'
import { andThen, type MaybePromise } from '../../platform/concurrency/maybePromise.ts'
import { Refusal } from '../../platform/refusal.ts'
import { type AnswerBody, isStream, type PieceStream, textOf } from './answerBody.ts'
import type { Answer, Dispatch } from './createDispatch.ts'
import { answerHead, type CallOrigin, failureText, type RawRequest } from './envelope.ts'
import type { RequestBody } from './readBody.ts'
import { discard, gather } from './resultPieces.ts'

/** The outcome of taking calls from a quota. */
export interface TakenQuota {
  /** Number of calls that may be made, from the first on. */
  readonly allowed: number
  /** Wait of the first call beyond those. */
  readonly retryAfterMs: number
  /** Further wait of each call after it. */
  readonly msPerCall: number
  /** The quota that has no room for them. */
  readonly scope: 'project' | 'address'
}

/** The answer to one request body. */
export interface BodyAnswer {
  readonly status: number
  readonly body: AnswerBody
  /** The coverage that the methods reported; empty where they reported none, or not every result is known yet. */
  readonly coverage: readonly AnswerCoverage[]
  /** The cursor that the method of a single call reported. */
  readonly cursor?: string | undefined
  /** The body is a stream of events. */
  readonly isEvents?: true | undefined
}

/** Entries of a batch answered at the same time: enough to overlap waits, few enough to bound what one request holds. */
const entriesAtOnce = 8

/**
 * Answers the calls of one request body, single or batch. Never rejects.
 *
 * @param quota - of a batch, the calls beyond it are refused.
 * @param origin.nextTurn - the first call of a batch has been let in with it; the others each take a turn.
 * @param onRefusal - called with the reason of each refused call.
 */
export function answerCalls(
  dispatch: Dispatch,
  { isBatch, requests }: RequestBody,
  origin: CallOrigin,
  quota: TakenQuota,
  onRefusal: (reason: ErrorReason) => void
): MaybePromise<BodyAnswer> {
  const [single] = requests
  return isBatch || single === undefined
    ? answerBatch(dispatch, requests, origin, quota, onRefusal)
    : andThen(dispatch(single, origin), toBodyAnswer)
}

function toBodyAnswer({ reason, body, coverage, cursor, isEvents }: Answer): BodyAnswer {
  const status = reason === undefined ? 200 : errors[reason].httpStatus
  return { status, body, coverage: coverage === undefined ? [] : [coverage], cursor, isEvents }
}

async function answerBatch(
  dispatch: Dispatch,
  requests: readonly RawRequest[],
  origin: CallOrigin,
  quota: TakenQuota,
  onRefusal: (reason: ErrorReason) => void
): Promise<BodyAnswer> {
  const answers: Answer[] = []
  const answerOne = async (request: RawRequest, index: number): Promise<Answer> => {
    if (index < quota.allowed) {
      if (index > 0) await origin.nextTurn(0)
      return dispatch(request, origin)
    }
    onRefusal('RATE_LIMITED')
    const { message, data } = quotaRefusal(quota, index - quota.allowed)
    const error = createErrorObject('RATE_LIMITED', { ...data, extraMessage: message })
    return { reason: 'RATE_LIMITED', body: failureText(answerHead(request, origin), error) }
  }
  const pieces = inOrder(requests, async (request, index) => {
    const answer = await answerOne(request, index)
    answers.push(answer)
    return answer
  })
  const body = await gather({ next: () => pieces.next(), return: () => pieces.return(undefined) })
  // Of a long answer the header goes out before its last entries are worked on: their coverage may be narrower.
  const isKnown = answers.length === requests.length
  return { status: 200, body, coverage: isKnown ? coverageOf(answers) : [] }
}

/** @param before - refused calls of the same batch, each of which has to wait less. */
export function quotaRefusal(
  { scope, retryAfterMs, msPerCall }: TakenQuota,
  before: number
): Refusal<'RATE_LIMITED'> {
  return new Refusal('RATE_LIMITED', `The quota of this ${scope} is used up.`, {
    retryAfterMs: Math.ceil(retryAfterMs + before * msPerCall)
  })
}

/**
 * Answers the requests of a batch, some at a time, and writes the answers in the order of the requests.
 *
 * @remarks A stream among them that fails after it began fails the whole answer: the connection is cut.
 */
async function* inOrder(
  requests: readonly RawRequest[],
  answer: (request: RawRequest, index: number) => Promise<Answer>
): AsyncGenerator<string, undefined, undefined> {
  const waiting = requests.entries()
  const started: Promise<Answer>[] = []
  const startOne = () => {
    const next = waiting.next()
    if (!next.done) started.push(answer(next.value[1], next.value[0]))
  }
  for (let count = 0; count < entriesAtOnce; count++) startOne()
  let open: PieceStream | undefined
  try {
    let lead = '['
    for (let current = started.shift(); current !== undefined; current = started.shift()) {
      const { body } = await current
      if (!isStream(body)) {
        yield lead + textOf(body)
      } else {
        open = body
        yield lead
        for (let next = await body.next(); !next.done; next = await body.next()) yield next.value
        open = undefined
      }
      lead = ','
      startOne()
    }
    yield ']'
  } finally {
    await open?.return()
    for (const unsent of started) discard(unsent.then(({ body }) => body))
  }
  return undefined
}

function coverageOf(answers: readonly Answer[]): readonly AnswerCoverage[] {
  return answers.map(({ coverage }) => coverage).filter(coverage => coverage !== undefined)
}
