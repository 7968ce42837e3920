import { type EndpointPath, endpoints, type RpcErrorObject } from '@chain-data/protocol'
import type { RawRequest } from './readBody.ts'

/** What the transport knows of a call. */
export interface CallOrigin {
  readonly endpoint: EndpointPath
  /** Text of `?chainId=`; absent when the URL has none. */
  readonly urlChainId?: string | undefined
  readonly requestId: string
  readonly projectId: string
  /** Aborts when the caller is gone. */
  readonly signal: AbortSignal
}

/** What identifies an answer: the id's JSON text, and the chain where the endpoint echoes it. */
export interface AnswerHead {
  /** `undefined`: the answer belongs to no request, or to one without a usable id. */
  readonly idText: string | undefined
  readonly chainId?: number | undefined
}

/** Everything of a successful answer before its result. */
export function successPrefix({ idText = 'null', chainId }: AnswerHead): string {
  return `{"jsonrpc":"2.0","id":${idText}${chainId === undefined ? '' : `,"chainId":${chainId}`},"result":`
}

/** Everything of a successful answer after its result. */
export const successSuffix = '}'

/** A failed answer. */
export function failureText({ idText = 'null', chainId }: AnswerHead, error: RpcErrorObject): string {
  const chain = chainId === undefined ? '' : `,"chainId":${chainId}`
  return `{"jsonrpc":"2.0","id":${idText}${chain},"error":${exactJson(error)}}`
}

/**
 * The chain a request asks about: its own member, else the URL's.
 *
 * @returns `undefined` when neither names one, NaN when what is named is no integer.
 */
export function chainOf(
  { chainId }: RawRequest,
  { urlChainId }: Pick<CallOrigin, 'urlChainId'>
): number | undefined {
  if (chainId !== undefined || urlChainId === undefined) return chainId
  return /^\d{1,16}$/.test(urlChainId) && Number.isSafeInteger(Number(urlChainId))
    ? Number(urlChainId)
    : Number.NaN
}

/** How the answer to a request begins: on endpoints that echo the chain it is there as soon as it is known. */
export function answerHead(
  request: RawRequest,
  origin: Pick<CallOrigin, 'endpoint' | 'urlChainId'>
): AnswerHead {
  const chainId = chainOf(request, origin)
  const isEchoed = endpoints[origin.endpoint].responseChainId === 'echo' && Number.isSafeInteger(chainId)
  return { idText: request.idText, chainId: isEchoed ? chainId : undefined }
}

/**
 * JSON text of a value in which a `bigint` stands for a JSON number with every digit, beyond what a JavaScript
 * number holds. Otherwise the same text as `JSON.stringify`.
 *
 * @throws {TypeError} for a value that has no JSON form (a function or `undefined` at the top, a circle).
 */
export function exactJson(value: unknown): string {
  let text: string | undefined
  try {
    text = JSON.stringify(value)
  } catch {
    // JSON.stringify refuses bigints. They are rare, so the common case pays nothing for them.
    text = write(value, 0)
  }
  if (text === undefined) throw new TypeError('the value has no JSON form')
  return text
}

/** Far beyond any answer; ends a circular value before the stack does. */
const deepest = 500

function write(value: unknown, depth: number): string | undefined {
  if (typeof value === 'bigint') return value.toString()
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if (depth > deepest) throw new TypeError('the value is nested too deep')
  if (Array.isArray(value)) {
    return `[${value.map(element => write(element, depth + 1) ?? 'null').join(',')}]`
  }
  if ('toJSON' in value && typeof value.toJSON === 'function') return write(value.toJSON(), depth + 1)
  const members: string[] = []
  for (const [name, member] of Object.entries(value)) {
    const text = write(member, depth + 1)
    if (text !== undefined) members.push(`${JSON.stringify(name)}:${text}`)
  }
  return `{${members.join(',')}}`
}
