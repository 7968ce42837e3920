import { createErrorObject, type ErrorReason, errors } from '@chain-data/protocol'
import type { AnswerCoverage } from '../../model/coverage.ts'
import type { Logger } from '../../platform/logger.ts'
import type { Metrics } from '../metrics/metrics.ts'
import { answerBatch } from './answerBatch.ts'
import type { CallOrigin } from './CallOrigin.ts'
import type { Answer, Dispatch } from './createDispatch.ts'
import { answerHead, failureText } from './envelope.ts'
import { narrowestCoverage } from './narrowestCoverage.ts'
import { type RawRequest, type RequestBody, readBody } from './readBody.ts'
import { gather, type PieceStream } from './resultPieces.ts'
import { toWireError } from './toWireError.ts'

/** What a quota gave. */
export interface TakenQuota {
  /** Of the calls asked for, the first so many may be made. */
  readonly allowed: number
  /** How long the first of the others has to wait. */
  readonly retryAfterMs: number
  /** How much longer each one after it. */
  readonly msPerCall: number
  /** Whose quota has no room for them. */
  readonly scope: 'project' | 'address'
}

/**
 * Takes some calls from the caller's quota, at once.
 *
 * @param fitting - `some`: those that fit, the default; `all`: none where one does not fit, and `retryAfterMs` is how
 *   long all of them have to wait.
 */
export type TakeQuota = (calls: number, fitting?: 'some' | 'all') => Promise<TakenQuota>

/** What goes back over HTTP. */
export interface RpcAnswer {
  readonly status: number
  readonly body: string | PieceStream
  /** How long the caller has to wait before another try; only with status 429. */
  readonly retryAfterMs?: number
  /** What the results cover, each chain once; absent where nothing was told, or not everything is known yet. */
  readonly coverage?: readonly AnswerCoverage[]
}

/** Answers one request body, single or batch. Never rejects. */
export type Rpc = (text: string, origin: CallOrigin, takeQuota: TakeQuota) => Promise<RpcAnswer>

/** More than any call needs: a list of 100 contracts has 4,500 characters. */
const charactersPerCall = 32_768

/** The JSON-RPC layer: body in, answers out, each request of a batch by itself. */
export function createRpc(options: {
  readonly dispatch: Dispatch
  readonly limits: { readonly jsonDepth: number; readonly batchEntries: number }
  readonly logger: Logger
  readonly metrics: Metrics
}): Rpc {
  const { dispatch, limits, logger, metrics } = options

  return async (text, origin, takeQuota) => {
    // Reading takes the time of the thread by length, whatever is in it.
    const forLength = Math.floor(text.length / charactersPerCall)
    if (forLength > 0) {
      const quota = await takeQuota(forLength, 'all')
      if (quota.allowed < forLength) return rateLimited(quota)
    }
    let body: RequestBody
    try {
      body = readBody(text, limits)
    } catch (failure) {
      // Nonsense costs as much as a call, or it would be the cheap way to keep a server busy.
      const quota = await takeQuota(1)
      if (quota.allowed < 1) return rateLimited(quota)
      const { reason, error } = toWireError(failure, { requestId: origin.requestId, logger })
      metrics.countRefusal(reason)
      return { status: errors[reason].httpStatus, body: failureText({ idText: undefined }, error) }
    }
    if (body.isBatch) {
      const quota = await takeQuota(body.requests.length)
      const answers: Answer[] = []
      const pieces = answerBatch(body.requests, async (request, index) => {
        const answer = await answerOfBatch(request, index, origin, quota)
        answers.push(answer)
        return answer
      })
      const gathered = await gather(pieces)
      // Of a long answer the header goes out before its last entries are worked on: their coverage may be narrower.
      const isKnown = answers.length === body.requests.length
      return { status: 200, body: gathered, ...(isKnown ? coverageOf(answers) : {}) }
    }
    const quota = await takeQuota(1)
    if (quota.allowed < 1) return rateLimited(quota)
    const [request] = body.requests
    if (request === undefined) throw new Error('a single body has one request')
    const answer = await dispatch(request, origin)
    return { status: statusOf(answer.reason), body: answer.body, ...coverageOf([answer]) }
  }

  async function answerOfBatch(
    request: RawRequest,
    index: number,
    origin: CallOrigin,
    quota: TakenQuota
  ): Promise<Answer> {
    if (index < quota.allowed) return dispatch(request, origin)
    metrics.countRefusal('RATE_LIMITED')
    const error = quotaError(quota, index - quota.allowed)
    return { reason: 'RATE_LIMITED', body: failureText(answerHead(request, origin), error) }
  }

  function rateLimited(quota: TakenQuota): RpcAnswer {
    metrics.countRefusal('RATE_LIMITED')
    const { retryAfterMs } = quota
    const status = errors.RATE_LIMITED.httpStatus
    return { status, retryAfterMs, body: failureText({ idText: undefined }, quotaError(quota, 0)) }
  }
}

function coverageOf(answers: readonly Answer[]): Pick<RpcAnswer, 'coverage'> {
  const told = answers.map(({ coverage }) => coverage).filter(coverage => coverage !== undefined)
  return told.length === 0 ? {} : { coverage: narrowestCoverage(told) }
}

/** @param before - refused calls of the same batch, each of which has to wait less. */
function quotaError({ scope, retryAfterMs, msPerCall }: TakenQuota, before: number) {
  return createErrorObject('RATE_LIMITED', {
    extraMessage: `The quota of this ${scope} is used up.`,
    retryAfterMs: Math.ceil(retryAfterMs + before * msPerCall)
  })
}

function statusOf(reason: ErrorReason | undefined): number {
  return reason === undefined ? 200 : errors[reason].httpStatus
}
