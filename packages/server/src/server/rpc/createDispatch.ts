import type { Damage, IndexDamagedError } from '@chain-data/index'
import type { EndpointPath, ErrorReason } from '@chain-data/protocol'
import { checkRequest } from '@chain-data/protocol/validators'
import type { AnswerCoverage } from '../../model/coverage.ts'
import { withinDeadline } from '../../platform/concurrency/deadline.ts'
import { andThen, type MaybePromise } from '../../platform/concurrency/maybePromise.ts'
import { exactJson } from '../../platform/exactJson.ts'
import type { Logger } from '../../platform/logger.ts'
import { present } from '../../platform/present.ts'
import { Refusal } from '../../platform/refusal.ts'
import type { Method } from '../methods/Method.ts'
import { type MethodContext, ResultEvents, ResultStream, ResultText } from '../methods/MethodContext.ts'
import { mistake, shorten } from '../methods/mistake.ts'
import type { Counts } from '../metrics/counts.ts'
import { type AnswerBody, byteLengthOf, isStream, type WholeBody } from './answerBody.ts'
import { createDamageReport } from './createDamageReport.ts'
import { discoverMethod } from './discoverMethod.ts'
import {
  type AnswerHead,
  answerHead,
  type CallOrigin,
  chainOf,
  failureText,
  type RawRequest,
  successPrefix,
  successSuffix
} from './envelope.ts'
import { gather, tooLarge, writePieces } from './resultPieces.ts'
import { toWireError } from './toWireError.ts'

/** The answer to one call; a stream has begun without failing, but is not known to end well. */
export interface Answer {
  readonly body: AnswerBody
  /** Absent on success. */
  readonly reason?: ErrorReason
  /** The coverage that the method reported; absent: none. */
  readonly coverage?: AnswerCoverage | undefined
  /** The cursor that the method reported; absent: none. */
  readonly cursor?: string | undefined
  /** The body is a stream of events. */
  readonly isEvents?: true | undefined
}

/** Answers one request. Never throws or rejects: a failure is an answer too. */
export type Dispatch = (request: RawRequest, origin: CallOrigin) => MaybePromise<Answer>

export interface DispatchOptions {
  readonly methods: readonly Method[]
  /** The chains served on each endpoint, ascending. */
  readonly chainIds: Readonly<Record<EndpointPath, readonly number[]>>
  readonly methodPrefix: string
  readonly limits: {
    readonly requestDeadlineMs: number
    readonly streamIdleMs: number
    readonly responseBytes: number | null
  }
  readonly logger: Logger
  readonly counts: Pick<Counts, 'countCall' | 'countDamage'>
  /** Called with damage that a call met in a chain's index. */
  readonly onDamage?: ((chainId: number, damage: Damage) => void) | undefined
}

/** Makes the function that answers one request: envelope, method, chain, params, then the method itself. */
export function createDispatch(options: DispatchOptions): Dispatch {
  const { chainIds, methodPrefix, limits, logger, counts, onDamage } = options
  const reportDamage = createDamageReport({ logger, counts, ...present({ onDamage }) })
  const methods = byEndpoint([...options.methods, discoverMethod(options.methods, methodPrefix)])

  return (request, origin) => {
    const startedMs = performance.now()
    const chainId = chainOf(request, origin)
    const head = answerHead(request, origin)
    let method: Method | undefined
    const count = (answer: Answer): Answer => {
      const durationMs = performance.now() - startedMs
      const name = method?.name ?? 'unknown'
      counts.countCall({ method: name, durationMs, outcome: answer.reason ?? 'ok' })
      logger.debug('call answered', {
        method: name,
        durationMs: Math.round(durationMs),
        requestId: origin.requestId,
        projectId: origin.projectId,
        reason: answer.reason ?? 'ok',
        ...(chainId === undefined ? {} : { chainId })
      })
      return answer
    }
    const fail = (failure: unknown): Answer => {
      const { requestId } = origin
      const { reason, error } = toWireError(failure, {
        requestId,
        logger,
        ...present({ method: method?.name })
      })
      return count({ body: failureText(head, error), reason })
    }
    try {
      checkEnvelope(request)
      method = findMethod(request, origin)
      checkChain(method, chainId, origin)
      const params = method.readParams(Reflect.get(request.value as object, 'params'))
      if (method.streams) requireStream(request, origin)
      const call = { method, params, head, chainId, origin }
      return andThen(runMethod(call, limits, reportDamage), count, fail)
    } catch (failure) {
      return fail(failure)
    }
  }

  function findMethod({ value }: RawRequest, { endpoint }: CallOrigin): Method {
    const name = String(Reflect.get(value as object, 'method'))
    const method = methods[endpoint].get(name)
    if (method === undefined) {
      throw new Refusal('METHOD_NOT_FOUND', `${endpoint} has no method ${JSON.stringify(shorten(name))}.`, {})
    }
    return method
  }

  function checkChain({ needsChain }: Method, chainId: number | undefined, { endpoint }: CallOrigin): void {
    if (!needsChain) return
    if (chainId === undefined) throw mistake('INVALID_PARAMS', '/chainId', 'is missing')
    if (Number.isNaN(chainId))
      throw mistake('INVALID_PARAMS', '/chainId', 'must be an integer from 0 to 2^53-1')
    const supportedChainIds = chainIds[endpoint]
    if (!supportedChainIds.includes(chainId)) {
      throw new Refusal('UNSUPPORTED_CHAIN', `chainId ${chainId} is not served on ${endpoint}.`, {
        supportedChainIds: [...supportedChainIds]
      })
    }
  }
}

/** A call to a method with its params, which are checked. */
interface MethodCall {
  readonly method: Method
  readonly params: unknown
  readonly head: AnswerHead
  readonly chainId: number | undefined
  readonly origin: CallOrigin
}

/** Runs a method within its deadline and writes its result as the body of an answer, whole or as a stream. */
function runMethod(
  { method, params, head, chainId, origin }: MethodCall,
  { requestDeadlineMs, streamIdleMs, responseBytes }: DispatchOptions['limits'],
  reportDamage: ReturnType<typeof createDamageReport>
): MaybePromise<Answer> {
  let context: CallContext | undefined
  let isEvents: true | undefined
  const reported = (failure: unknown) => {
    reportDamage(failure, chainId)
    throw failure
  }
  const work = (getSignal: () => AbortSignal): MaybePromise<AnswerBody> => {
    context = new CallContext({
      origin,
      chainId: Number.isNaN(chainId) ? undefined : chainId,
      deadlineMs: Date.now() + requestDeadlineMs,
      lastEventId: method.streams ? origin.lastEventId() || undefined : undefined,
      getSignal,
      onDamage: damage => reportDamage(damage, chainId)
    })
    const result = method.answer(params, context)
    return result instanceof Promise ? result.catch(reported).then(bodyOf) : bodyOf(result)

    function bodyOf(result: unknown): MaybePromise<AnswerBody> {
      if (result instanceof ResultText) {
        return bounded([`${successPrefix(head)}[`, result, `]${successSuffix}`], responseBytes)
      }
      if (result instanceof ResultEvents) {
        isEvents = true
        return result.texts
      }
      if (result instanceof ResultStream) return begin(result, getSignal)
      return bounded(successPrefix(head) + exactJson(result) + successSuffix, responseBytes)
    }
  }
  const begin = async (result: ResultStream, getSignal: () => AbortSignal): Promise<AnswerBody> => {
    const { before, after } = result.around
    const bounds = { idleMs: streamIdleMs, largestBytes: responseBytes }
    const pieces = writePieces(result, successPrefix(head) + before, after + successSuffix, bounds)
    // Also once the answer has begun, when a failure only cuts the connection.
    const next = () => pieces.next().catch(reported)
    const body = await gather({ next, return: () => pieces.return() })
    // A stream that comes too late is not read any more.
    if (isStream(body) && getSignal().aborted) await body.return()
    return body
  }
  const deadline = {
    timeoutMs: requestDeadlineMs,
    signal: origin.signal,
    createError: () =>
      new Refusal('UPSTREAM_UNAVAILABLE', `The answer was not ready within ${requestDeadlineMs} ms.`, {})
  }
  return andThen(
    withinDeadline(deadline, work),
    body => ({ body, coverage: context?.coverage, cursor: context?.cursor, isEvents }),
    failure => {
      throw origin.signal().aborted
        ? new Refusal('UPSTREAM_UNAVAILABLE', 'The caller went away.', {})
        : failure
    }
  )
}

function bounded(body: WholeBody, responseBytes: number | null): WholeBody {
  if (responseBytes !== null && byteLengthOf(body) > responseBytes) throw tooLarge(responseBytes)
  return body
}

/** @throws {Error} a bug: two methods of one endpoint have the same name. */
function byEndpoint(methods: readonly Method[]): Readonly<Record<EndpointPath, ReadonlyMap<string, Method>>> {
  const found = { '/evm-chain': new Map<string, Method>(), '/solana': new Map<string, Method>() }
  for (const method of methods) {
    for (const endpoint of method.endpoints) {
      if (found[endpoint].has(method.wireName))
        throw new Error(`${endpoint} has two methods ${method.wireName}`)
      found[endpoint].set(method.wireName, method)
    }
  }
  return found
}

function checkEnvelope({ value, idText, repeated }: RawRequest): void {
  const found = checkRequest(value)
  if (found?.path === '') throw mistake('INVALID_REQUEST', '', 'must be an object')
  if (repeated !== undefined) throw mistake('INVALID_REQUEST', `/${repeated}`, 'is given twice')
  if (idText === undefined) {
    throw mistake(
      'INVALID_REQUEST',
      '/id',
      'must be an integer within ±(2^53-1), or a string of 1 to 256 characters'
    )
  }
  // A wrong chainId, and params by name, leave it a request: they are refused after the method is known.
  if (found?.reason === 'INVALID_REQUEST') throw mistake('INVALID_REQUEST', found.path, found.message)
}

/** Refuses a call whose answer is a stream of events, where its caller does not take one. */
function requireStream({ value }: RawRequest, { isBatch, acceptsEvents }: CallOrigin): void {
  const method = shorten(String(Reflect.get(value as object, 'method')))
  if (isBatch) {
    const message = `${method} answers with a stream of events: send it alone, not in a batch.`
    throw new Refusal('INVALID_REQUEST', message, {})
  }
  if (acceptsEvents()) return
  const message = `${method} answers with a stream of events: send the header accept: text/event-stream.`
  throw new Refusal('INVALID_REQUEST', message, {})
}

/** The context of one call, with what its method reported. */
class CallContext implements MethodContext {
  readonly chainId: number | undefined
  readonly projectId: string | undefined
  readonly cameMs: number
  readonly deadlineMs: number
  readonly lastEventId: string | undefined
  coverage: AnswerCoverage | undefined
  cursor: string | undefined
  readonly onDamage: (damage: IndexDamagedError) => void
  readonly #origin: CallOrigin
  readonly #getSignal: () => AbortSignal
  #turns = 1

  constructor(
    call: Pick<MethodContext, 'chainId' | 'lastEventId'> & {
      readonly origin: CallOrigin
      readonly deadlineMs: number
      readonly getSignal: () => AbortSignal
      readonly onDamage: (damage: IndexDamagedError) => void
    }
  ) {
    this.chainId = call.chainId
    this.projectId = call.origin.projectId
    this.cameMs = call.origin.cameMs
    this.deadlineMs = call.deadlineMs
    this.lastEventId = call.lastEventId
    this.onDamage = call.onDamage
    this.#origin = call.origin
    this.#getSignal = call.getSignal
  }

  get signal(): AbortSignal {
    return this.#getSignal()
  }

  readonly pause = () => this.#origin.nextTurn(this.#turns++)

  readonly onCoverage = (found: AnswerCoverage) => {
    this.coverage = found
  }

  readonly onCursor = (found: string) => {
    this.cursor = found
  }
}
