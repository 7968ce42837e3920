import { formatSpans, joinSpans } from '@chain-data/index'
import { transport } from '@chain-data/protocol'
import type { AnswerCoverage } from '../../model/coverage.ts'
import { andThen, type MaybePromise } from '../../platform/concurrency/maybePromise.ts'
import type { Logger } from '../../platform/logger.ts'
import { present } from '../../platform/present.ts'
import type { HttpAnswer, HttpRequest } from '../guards/exchange.ts'
import { type Arrival, type Hooks, watchBody } from '../guards/guards.ts'
import type { Counts } from '../metrics/counts.ts'
import type { Caller } from '../projects/createKeyRing.ts'
import { byteLengthOf, isStream } from '../rpc/answerBody.ts'
import { answerCalls, type BodyAnswer, type TakenQuota } from '../rpc/answerCalls.ts'
import type { Dispatch } from '../rpc/createDispatch.ts'
import type { RequestBody } from '../rpc/readBody.ts'
import type { Target } from './requestForm.ts'

/** Guard: counts answers by status and by the bytes that are sent of them, and logs each one at level debug. */
export function countAnswers(
  counts: Pick<Counts, 'countAnswer' | 'countSent' | 'beginStream' | 'endStream'>,
  logger: Logger
): Hooks {
  return {
    finish({ request, requestId, cameMs }, answer) {
      const { status, body } = answer
      // Neither path nor query: callers write what they like into them, a key among other things.
      logger.debug('request answered', {
        requestId,
        method: request.method,
        status,
        durationMs: Math.round(performance.now() - cameMs)
      })
      counts.countAnswer(status)
      if (!isStream(body)) {
        if (request.method !== 'HEAD') counts.countSent(byteLengthOf(body))
        return answer
      }
      // Streams of events are counted where they are bounded.
      if (!answer.isEvents) counts.beginStream()
      const counted = watchBody(body, {
        piece: piece => counts.countSent(Buffer.byteLength(piece)),
        ended: () => {
          if (!answer.isEvents) counts.endStream()
        }
      })
      return { ...answer, body: counted }
    }
  }
}

/** A request that has passed every guard, with all that they found out. */
type ReadRequest = Arrival &
  Target & { readonly caller: Caller; readonly body: RequestBody; readonly quota: TakenQuota }

/**
 * Makes the last step of a request: its calls are answered.
 *
 * @param nextTurn - as `CallOrigin.nextTurn`, of a caller.
 */
export function answerBody(
  dispatch: Dispatch,
  counts: Pick<Counts, 'countRefusal'>,
  nextTurn: (caller: Caller, had: number) => Promise<undefined> | undefined
): (call: ReadRequest) => MaybePromise<HttpAnswer> {
  return ({ request, requestId, cameMs, endpoint, urlChainId, caller, body, quota }) => {
    const origin = {
      endpoint,
      urlChainId,
      requestId,
      cameMs,
      projectId: caller.projectId,
      isBatch: body.isBatch,
      nextTurn: (had: number) => nextTurn(caller, had),
      signal: () => request.signal,
      acceptsEvents: () => acceptsEvents(request),
      lastEventId: () => request.header('last-event-id')
    }
    return andThen(answerCalls(dispatch, body, origin, quota, counts.countRefusal), toHttp)
  }
}

function toHttp({ status, body, coverage, cursor, isEvents }: BodyAnswer): HttpAnswer {
  const headers: Record<string, string> = { ...(isEvents ? streamHeaders : plainHeaders) }
  const covered = coverageHeader(coverage)
  if (covered !== undefined) headers['x-chain-data-coverage'] = covered
  if (cursor !== undefined) headers['x-chain-data-cursor'] = cursor
  return { status, headers, body, isEvents }
}

const plainHeaders = { 'content-type': transport.responseContentType }

/** Headers of a stream of events. Proxies and hosts that keep to them neither collect nor compress it. */
const streamHeaders = {
  'content-type': transport.streamContentType,
  ...transport.streamHeaders
}

/** Returns whether a request names streams of events among what it accepts; that it accepts anything is not enough. */
function acceptsEvents(request: Pick<HttpRequest, 'header'>): boolean {
  const ranges = (request.header('accept') ?? '').toLowerCase().split(',')
  return ranges.some(range => {
    const [type = '', ...parameters] = range.split(';').map(part => part.trim())
    return type === transport.streamContentType && !parameters.some(each => /^q=0(\.0*)?$/.test(each))
  })
}

/** Largest integer of a structured header (RFC 9651, section 3.3.1). */
const largestInteger = 999_999_999_999_999

/**
 * Builds the header that says what an answer covers: a list of chain ids with parameters (RFC 9651), such as
 * `31337;from=900;to=1028;transfers=900;deep=state;lacks=zero-value-receipts`, each chain once.
 *
 * @param reported - by the methods; of a batch each entry by itself.
 * @returns `undefined` where nothing was reported. A chain whose numbers do not fit into such a header is left out of it.
 */
function coverageHeader(reported: readonly AnswerCoverage[]): string | undefined {
  const parts = narrowestCoverage(reported)
    .map(knownMember)
    .filter(member => member !== undefined)
  return parts.length === 0 ? undefined : parts.join(', ')
}

/** Text of coverage that was reported before; a chain's stays the same object until its index changes. */
const members = new WeakMap<AnswerCoverage, string>()

function knownMember(coverage: AnswerCoverage): string | undefined {
  const text = members.get(coverage) ?? toMember(coverage)
  if (text !== undefined) members.set(coverage, text)
  return text
}

function toMember(coverage: AnswerCoverage): string | undefined {
  const { chainId, from, to, transfersFrom, internalFrom, operationsFrom, deepHistory, deepFrom } = coverage
  const known = { transfers: transfersFrom, internal: internalFrom, operations: operationsFrom }
  const numbers = Object.entries({ from, to, ...known, 'deep-from': deepFrom })
  const all = [chainId, ...numbers.map(([, value]) => value ?? 0)]
  if (all.some(value => !(Number.isInteger(value) && value >= 0 && value <= largestInteger))) return undefined
  const { lacks, reason } = coverage
  const unknown = coverage.unknownBlocks && `"${formatSpans(coverage.unknownBlocks)}"`
  const parameters = [...numbers, ...Object.entries({ unknown, deep: deepHistory, lacks, reason })]
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `;${name}=${value}`)
  return `${chainId}${parameters.join('')}`
}

/**
 * Joins the coverage of several answers: each chain once, by chain id. Two answers about one chain may come from two states
 * of its index; then the result says no more than both cover.
 */
function narrowestCoverage(reported: readonly AnswerCoverage[]): readonly AnswerCoverage[] {
  if (reported.length === 1) return reported
  const byChain = new Map<number, AnswerCoverage>()
  for (const coverage of reported) {
    const known = byChain.get(coverage.chainId)
    byChain.set(coverage.chainId, known === undefined ? coverage : narrower(known, coverage))
  }
  return [...byChain.values()].sort((one, other) => one.chainId - other.chainId)
}

function narrower(one: AnswerCoverage, other: AnswerCoverage): AnswerCoverage {
  const from = both(one.from, other.from, Math.max)
  const to = both(one.to, other.to, Math.min)
  const transfersFrom = both(one.transfersFrom, other.transfersFrom, Math.max)
  const internalFrom = both(one.internalFrom, other.internalFrom, Math.max)
  const operationsFrom = both(one.operationsFrom, other.operationsFrom, Math.max)
  const worst = (['none', 'state', 'node'] as const).find(deepHistory =>
    [one, other].some(each => each.deepHistory === deepHistory)
  )
  const unknown = [one, other].flatMap(each => each.unknownBlocks ?? [])
  const deepFrom = [one, other].flatMap(each => each.deepFrom ?? [])
  return {
    chainId: one.chainId,
    // No block is in both: so many were removed between the two.
    ...(from === undefined || to === undefined || from > to ? {} : { from, to }),
    ...(transfersFrom === undefined ? {} : { transfersFrom }),
    ...(internalFrom === undefined ? {} : { internalFrom }),
    ...(operationsFrom === undefined ? {} : { operationsFrom }),
    ...(unknown.length > 0 && { unknownBlocks: joinSpans(unknown) }),
    ...present({ deepHistory: worst, lacks: one.lacks ?? other.lacks, reason: one.reason ?? other.reason }),
    ...(worst === 'none' || deepFrom.length === 0 ? {} : { deepFrom: Math.max(...deepFrom) })
  }
}

function both(
  one: number | undefined,
  other: number | undefined,
  choose: (one: number, other: number) => number
): number | undefined {
  return one === undefined || other === undefined ? undefined : choose(one, other)
}
