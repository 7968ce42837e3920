import { type EndpointPath, endpoints, type RpcErrorObject } from '@chain-data/protocol'
import { exactJson } from '../../platform/exactJson.ts'

/** A request of a body, still unchecked. */
export interface RawRequest {
  readonly value: unknown
  /** JSON text of the id to echo; `undefined` when the request has none that can be used. */
  readonly idText: string | undefined
  /** The chain named in the body: `undefined` when there is none, NaN when it is no exact integer from 0. */
  readonly chainId: number | undefined
  /** The first member that is given twice, so that it is not clear which one was meant. */
  readonly repeated: string | undefined
}

/** Facts about a call that the transport knows. */
export interface CallOrigin {
  readonly endpoint: EndpointPath
  /** Text of `?chainId=`; absent when the URL has none. */
  readonly urlChainId?: string | undefined
  readonly requestId: string
  /** When the request came, as `performance.now()` has it. */
  readonly cameMs: number
  readonly projectId: string
  /** Returns a signal that aborts when the caller is gone. */
  signal(): AbortSignal
  /**
   * Waits until the caller may have more work done: another call, or another part of one.
   * @param had - turns that the call has had.
   */
  nextTurn(had: number): Promise<undefined> | undefined
  /** The call is one of a batch. */
  readonly isBatch?: boolean
  /** Returns whether the caller takes a stream of events for an answer. */
  acceptsEvents(): boolean
  /** Returns the id of the last event that the caller has, as its header says. */
  lastEventId(): string | undefined
}

/** Identifies an answer: the id's JSON text, and the chain where the endpoint echoes it. */
export interface AnswerHead {
  /** `undefined`: the answer belongs to no request, or to one without a usable id. */
  readonly idText: string | undefined
  readonly chainId?: number | undefined
}

/** Writes everything of a successful answer before its result. */
export function successPrefix({ idText = 'null', chainId }: AnswerHead): string {
  return `{"jsonrpc":"2.0","id":${idText}${chainId === undefined ? '' : `,"chainId":${chainId}`},"result":`
}

/** Everything of a successful answer after its result. */
export const successSuffix = '}'

/** Writes a failed answer. */
export function failureText({ idText = 'null', chainId }: AnswerHead, error: RpcErrorObject): string {
  const chain = chainId === undefined ? '' : `,"chainId":${chainId}`
  return `{"jsonrpc":"2.0","id":${idText}${chain},"error":${exactJson(error)}}`
}

/**
 * Finds the chain of a request: its own member, else the URL's.
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

/** Makes the head of the answer to a request, with the chain on endpoints that echo it, as soon as it is known. */
export function answerHead(
  request: RawRequest,
  origin: Pick<CallOrigin, 'endpoint' | 'urlChainId'>
): AnswerHead {
  const chainId = chainOf(request, origin)
  const isEchoed = endpoints[origin.endpoint].responseChainId === 'echo' && Number.isSafeInteger(chainId)
  return { idText: request.idText, chainId: isEchoed ? chainId : undefined }
}

/** Maximum of characters of an integer within 2^53; longer spellings exist, but only to provoke. */
const longestSpelling = 40

/**
 * Reads the integer that a JSON number's text stands for, by its digits: `1.0` and `1e3` are integers,
 * `9007199254740993` and `1.00000000000000000001` are not safe ones although JSON.parse makes them so.
 *
 * @returns `undefined` when it is no integer within ±(2^53-1).
 */
export function exactInteger(numberText: string): number | undefined {
  if (/^-?\d{1,15}$/.test(numberText)) return Number(numberText)
  if (numberText.length > longestSpelling) return undefined
  const match = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,2}))?$/.exec(numberText)
  if (!match) return undefined
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = match
  const shift = Number(exponent) - fraction.length
  const digits = BigInt(whole + fraction)
  const scale = 10n ** BigInt(Math.abs(shift))
  if (shift < 0 && digits % scale !== 0n) return undefined
  const magnitude = shift < 0 ? digits / scale : digits * scale
  if (magnitude > BigInt(Number.MAX_SAFE_INTEGER)) return undefined
  return Number(sign === '-' ? -magnitude : magnitude)
}
