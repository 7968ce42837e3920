import {
  createErrorObject,
  type EndpointPath,
  type ErrorReason,
  endpoints,
  errors,
  limits,
  type MethodName,
  type MethodParams,
  methodFacts,
  methodOfWireName
} from '@chain-data/protocol'
import { documentWithPrefix } from '@chain-data/protocol/document'
import { errorExamples } from '@chain-data/protocol/examples'
import { checkParams, checkRequest } from '@chain-data/protocol/validators'
import { defaultResult, pageOf } from './defaultResults.ts'
import { type Fault, isFault, rpcFault } from './Fault.ts'
import type { MockCall, MockOptions } from './MockOptions.ts'
import type { EventSource } from './streamEvents.ts'
import { wait } from './wait.ts'
import { writeJson } from './writeJson.ts'

/** The answer to one request, and what happens to the exchange that carries it. */
export interface Entry {
  /** The members of the answer as JSON text, in order: `id`, `chainId`, `result` or `error`. */
  readonly members: Readonly<Record<string, string>>
  /** Present when the answer is a stream. */
  readonly stream?: EventSource
  /** Present when this entry decides how the whole exchange ends. */
  readonly fault?: Exclude<Fault, { readonly kind: 'delay' }>
}

/** What an entry is answered from. */
export interface EntryContext {
  readonly options: MockOptions
  readonly endpoint: EndpointPath
  /** `?chainId=` of the URL. */
  readonly urlChainId: string | null
  readonly isBatch: boolean
  /** Whether the caller takes a stream of events. */
  readonly takesEvents: boolean
}

interface Head {
  readonly id: number | string | null
  readonly chainId: number | undefined
}

/**
 * Answers one request of a body as the service would: envelope, method, chain and params are checked with the
 * document's own validators, in its order.
 */
export async function answerEntry(value: unknown, context: EntryContext): Promise<Entry> {
  const { options, endpoint } = context
  const id = usableId(value)
  const chainId = chainOf(value, context.urlChainId)
  const isEchoed = endpoints[endpoint].responseChainId === 'echo' && Number.isSafeInteger(chainId)
  const head = { id, chainId: isEchoed ? chainId : undefined }
  const refuse = (fault: Fault) => conclude(head, fault, context)

  const mistake = checkRequest(value)
  if (mistake?.path === '' || id === null || mistake?.reason === 'INVALID_REQUEST') {
    return refuse(badRequest(mistake?.reason === 'INVALID_REQUEST' ? mistake : idMistake))
  }
  const { method: name, params } = value as { readonly method: string; readonly params: unknown }
  const method = methodOfWireName(name, options.methodPrefix, endpoint)
  if (method === undefined) {
    const extraMessage = `${endpoint} has no method ${JSON.stringify(shorten(name))}.`
    return refuse(rpcFault('METHOD_NOT_FOUND', { extraMessage }))
  }
  const chainFault = methodFacts[method].needsChain
    ? checkChain(chainId, options.chainIds?.[endpoint])
    : undefined
  if (chainFault) return refuse(chainFault)
  const wrong = checkParams(method, params)
  if (wrong) return refuse(badParams(wrong))
  if (methodFacts[method].streams && (context.isBatch || !context.takesEvents)) {
    const extraMessage = `${name} answers with a stream: it is called alone, with Accept: text/event-stream.`
    return refuse(rpcFault('INVALID_REQUEST', { extraMessage, path: '' }))
  }
  return answerCall(
    { method, params: params as MethodParams<typeof method>, endpoint, chainId, id },
    head,
    context
  )
}

/** The entry of a request that failed with this fault. */
export function failEntry(value: unknown, fault: Fault, context: EntryContext): Promise<Entry> {
  return conclude({ id: usableId(value), chainId: undefined }, fault, context)
}

async function answerCall<M extends MethodName>(
  call: MockCall<M>,
  head: Head,
  context: EntryContext
): Promise<Entry> {
  const { methods, methodPrefix } = context.options
  const override = methods?.[call.method]
  const byDefault = () =>
    call.method === 'rpc.discover' && methodPrefix !== undefined
      ? documentWithPrefix(methodPrefix)
      : defaultResult(call)
  const chosen: unknown = typeof override === 'function' ? await override(call as never) : override
  if (call.method === 'svc_watchAddresses' && !isFault(chosen)) {
    const [, options] = call.params as MethodParams<'svc_watchAddresses'>
    const events = (chosen ?? byDefault()) as EventSource['events']
    return { members: {}, stream: { events, after: options?.after } }
  }
  // A fixed list is the account's history, so that paging over it ends as it does with the service.
  if (
    call.method === 'svc_getTransactionsByAddress' &&
    Array.isArray(chosen) &&
    typeof override !== 'function'
  ) {
    const [, page] = call.params as MethodParams<'svc_getTransactionsByAddress'>
    return conclude(head, pageOf(chosen, page), context, byDefault)
  }
  return conclude(head, chosen === undefined ? byDefault() : chosen, context, byDefault)
}

/** @param otherwise - What a fault that only changes an answer changes. */
async function conclude(
  head: Head,
  answer: unknown,
  context: EntryContext,
  otherwise: () => unknown = () => null
): Promise<Entry> {
  if (!isFault(answer)) return { members: membersOf(head, 'result', answer) }
  switch (answer.kind) {
    case 'delay':
      await wait(answer.delayMs)
      return conclude(head, answer.then ?? otherwise(), context, otherwise)
    case 'rpc': {
      const error = errorOf(answer.reason, answer.data)
      const members = membersOf(head, 'error', error)
      return isWholeExchange(answer.reason, context.isBatch) ? { members, fault: answer } : { members }
    }
    default:
      return { ...(await conclude(head, otherwise(), context)), fault: answer }
  }
}

/** The error object of a case: code and message from the table, data from the example and from the fault. */
export function errorOf(reason: ErrorReason, data: object) {
  const { reason: _known, ...example } = errorExamples[reason].error.data
  return createErrorObject(reason, { ...example, ...data } as never)
}

/** Inside a batch a used-up quota is an entry's failure; the other refusals of HTTP come before any entry. */
function isWholeExchange(reason: ErrorReason, isBatch: boolean): boolean {
  return errors[reason].httpStatus !== 200 && !(isBatch && reason === 'RATE_LIMITED')
}

function membersOf({ id, chainId }: Head, name: 'result' | 'error', value: unknown): Entry['members'] {
  return {
    jsonrpc: '"2.0"',
    id: JSON.stringify(id),
    ...(chainId === undefined ? {} : { chainId: String(chainId) }),
    [name]: writeJson(value)
  }
}

/** @returns `null` for an id that cannot be echoed, 1 for a request without one. */
function usableId(value: unknown): number | string | null {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null
  if (!Object.hasOwn(value, 'id')) return 1
  const id: unknown = Reflect.get(value, 'id')
  if (typeof id === 'number') return Number.isSafeInteger(id) ? id : null
  return typeof id === 'string' && id !== '' && [...id].length <= limits.idCharacters ? id : null
}

/** @returns `undefined` when neither the body nor the URL names a chain, NaN when what is named is none. */
function chainOf(value: unknown, urlChainId: string | null): number | undefined {
  const named: unknown =
    typeof value === 'object' && value !== null && Object.hasOwn(value, 'chainId')
      ? Reflect.get(value, 'chainId')
      : urlChainId !== null && /^\d{1,16}$/.test(urlChainId)
        ? Number(urlChainId)
        : (urlChainId ?? undefined)
  if (named === undefined) return undefined
  return typeof named === 'number' && Number.isSafeInteger(named) && named >= 0 ? named : Number.NaN
}

function checkChain(chainId: number | undefined, served: readonly number[] | undefined): Fault | undefined {
  if (chainId === undefined) return badParams({ path: '/chainId', message: 'is missing' })
  if (Number.isNaN(chainId)) {
    return badParams({ path: '/chainId', message: 'must be an integer from 0 to 2^53-1' })
  }
  if (served === undefined || served.includes(chainId)) return undefined
  return rpcFault('UNSUPPORTED_CHAIN', {
    extraMessage: `chainId ${chainId} is not served here.`,
    supportedChainIds: [...served]
  })
}

interface Mistake {
  readonly path: string
  readonly message: string
}

const idMistake: Mistake = {
  path: '/id',
  message: 'must be an integer within ±(2^53-1), or a string of 1 to 256 characters'
}

function badRequest({ path, message }: Mistake): Fault {
  const where = path === '' ? 'The request' : shorten(path)
  return rpcFault('INVALID_REQUEST', { extraMessage: `${where} ${message}.`, path: shorten(path) })
}

function badParams({ path, message }: Mistake): Fault {
  return rpcFault('INVALID_PARAMS', { extraMessage: `${shorten(path)} ${message}.`, path: shorten(path) })
}

function shorten(text: string): string {
  return text.slice(0, limits.inputEchoCharacters)
}
