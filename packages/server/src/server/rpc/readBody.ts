import { limits } from '@chain-data/protocol'
import { Refusal } from '../../platform/refusal.ts'

import { exactInteger, type RequestScan, scanBody } from './scanBody.ts'

/** One request of a body, still unchecked. */
export interface RawRequest {
  readonly value: unknown
  /** JSON text of the id to echo; `undefined` when the request has none that can be used. */
  readonly idText: string | undefined
  /** The chain named in the body: `undefined` when there is none, NaN when it is no exact integer from 0. */
  readonly chainId: number | undefined
  /** The first of its members that is given twice, so that nobody can tell which one was meant. */
  readonly repeated: string | undefined
}

export interface RequestBody {
  readonly isBatch: boolean
  readonly requests: readonly RawRequest[]
}

/** What a request without an id is answered with: the service has no notifications. */
const defaultIdText = '1'
const longestId = limits.idCharacters

/**
 * Parses a request body without losing a digit of its ids and chain ids.
 *
 * @throws {Refusal} PARSE_ERROR, or INVALID_REQUEST for a body nested too deep and for a batch of a wrong length.
 */
export function readBody(
  text: string,
  bounds: { readonly jsonDepth: number; readonly batchEntries: number }
): RequestBody {
  const { tooDeep, requests } = scanBody(text, bounds.jsonDepth)
  if (tooDeep) {
    throw new Refusal('INVALID_REQUEST', `The request is nested deeper than ${bounds.jsonDepth} levels.`, {})
  }
  const body = parse(text)
  if (!Array.isArray(body)) return { isBatch: false, requests: [toRequest(body, requests[0])] }
  if (body.length === 0 || body.length > bounds.batchEntries) {
    throw new Refusal('INVALID_REQUEST', `A batch has 1 to ${bounds.batchEntries} requests.`, {})
  }
  return { isBatch: true, requests: body.map((value, index) => toRequest(value, requests[index])) }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new Refusal('PARSE_ERROR', 'The request body is not valid JSON.', {})
  }
}

function toRequest(value: unknown, scan: RequestScan = { repeated: [] }): RawRequest {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return { value, idText: undefined, chainId: undefined, repeated: undefined }
  }
  return {
    value,
    repeated: scan.repeated[0],
    idText: usableId(value, scan),
    chainId: namedChain(value, scan)
  }
}

function usableId(request: object, { id: source, repeated }: RequestScan): string | undefined {
  if (!Object.hasOwn(request, 'id')) return defaultIdText
  if (repeated.includes('id')) return undefined
  const id: unknown = Reflect.get(request, 'id')
  const usable =
    typeof id === 'string'
      ? fitsAsId(id)
      : typeof id === 'number' && source !== undefined && exactInteger(source) !== undefined
  return usable ? source : undefined
}

function fitsAsId(id: string): boolean {
  // Characters are code points, of which a string holds at least half its length.
  return id.length >= 1 && id.length <= 2 * longestId && [...id].length <= longestId
}

function namedChain(request: object, { chainId: source, repeated }: RequestScan): number | undefined {
  if (!Object.hasOwn(request, 'chainId')) return undefined
  if (repeated.includes('chainId')) return Number.NaN
  if (typeof Reflect.get(request, 'chainId') !== 'number' || source === undefined) return Number.NaN
  const chainId = exactInteger(source)
  return chainId === undefined || chainId < 0 ? Number.NaN : chainId
}
