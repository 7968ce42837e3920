import { limits } from '@chain-data/protocol'
import { Refusal } from '../../platform/refusal.ts'
import { exactInteger, type RawRequest } from './envelope.ts'

/** The requests of one body. */
export interface RequestBody {
  readonly isBatch: boolean
  readonly requests: readonly RawRequest[]
}

/** The id in the answer to a request without one: the service has no notifications. */
const defaultIdText = '1'
const maxIdLength = limits.idCharacters
/** Members that mean something in a request. */
const memberNames: ReadonlySet<string> = new Set(['jsonrpc', 'id', 'method', 'chainId', 'params'])

/**
 * Parses a request body without losing a digit of its ids and chain ids.
 *
 * @throws {Refusal} PARSE_ERROR, or INVALID_REQUEST for a body nested too deep and for a batch of a wrong length.
 */
export function readBody(
  text: string,
  { jsonDepth, batchEntries }: { readonly jsonDepth: number; readonly batchEntries: number }
): RequestBody {
  const scans = scanBody(text, jsonDepth)
  const body = parse(text)
  if (!Array.isArray(body)) return { isBatch: false, requests: [toRequest(body, scans[0])] }
  if (body.length === 0 || body.length > batchEntries) {
    throw new Refusal('INVALID_REQUEST', `A batch has 1 to ${batchEntries} requests.`, {})
  }
  return { isBatch: true, requests: body.map((value, index) => toRequest(value, scans[index])) }
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
  const id: unknown = Reflect.get(request, 'id')
  if (repeated.includes('id') || source === undefined) return undefined
  const isUsable = typeof id === 'string' ? fitsAsId(id) : typeof id === 'number' && isExact(source)
  return isUsable ? source : undefined
}

function fitsAsId(id: string): boolean {
  // Characters are code points, of which a string holds at least half its length.
  return id.length >= 1 && id.length <= 2 * maxIdLength && [...id].length <= maxIdLength
}

function isExact(numberText: string): boolean {
  return exactInteger(numberText) !== undefined
}

function namedChain(request: object, { chainId: source, repeated }: RequestScan): number | undefined {
  if (!Object.hasOwn(request, 'chainId')) return undefined
  const isNumber = typeof Reflect.get(request, 'chainId') === 'number'
  const isReadable = isNumber && source !== undefined && !repeated.includes('chainId')
  const chainId = isReadable ? exactInteger(source) : undefined
  return chainId === undefined || chainId < 0 ? Number.NaN : chainId
}

/** Facts that the text of a request shows and its parsed value hides. */
interface RequestScan {
  /** Text of the id, exactly as the caller wrote it: its digits count. */
  id?: string
  /** Text of the chain id. */
  chainId?: string
  /** Members of `memberNames` that are given more than once. */
  readonly repeated: string[]
}

const [quote, comma, colon, backslash] = [0x22, 0x2c, 0x3a, 0x5c]
const [openBracket, closeBracket, openBrace, closeBrace] = [0x5b, 0x5d, 0x7b, 0x7d]

/**
 * Walks over a JSON text once, without building anything: measures its depth before a parser meets it, and finds
 * what a parser hides. That is the source of `id` and `chainId`, because parsing rounds numbers, and members given
 * twice, of which parsers choose different ones, so that a gateway in front may have judged another request than the
 * one that is answered. Whether the text is JSON at all is left to the parser: for other texts the result means nothing.
 *
 * @returns one scan for each element of a batch, or for the single request.
 */
function scanBody(text: string, maxDepth: number): readonly RequestScan[] {
  const requestDepth = /^\s*\[/.test(text) ? 2 : 1
  const requests: RequestScan[] = []
  let current: RequestScan = { repeated: [] }
  let seen = new Set<string>()
  let depth = 0
  let inRequest = false
  let key: string | undefined
  let valueStart = -1

  const endMember = (end: number) => {
    if (valueStart >= 0 && key !== undefined && memberNames.has(key)) {
      if (seen.has(key)) current.repeated.push(key)
      seen.add(key)
      if (key === 'id' || key === 'chainId') current[key] = text.slice(valueStart, end).trim()
    }
    key = undefined
    valueStart = -1
  }
  const endRequest = () => {
    requests.push(current)
    current = { repeated: [] }
    seen = new Set()
  }

  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case quote: {
        const end = endOfString(text, at)
        if (inRequest && depth === requestDepth && valueStart < 0) key = keyName(text.slice(at, end + 1))
        at = end
        break
      }
      case openBrace:
      case openBracket:
        depth++
        if (depth > maxDepth) {
          throw new Refusal('INVALID_REQUEST', `The request is nested deeper than ${maxDepth} levels.`, {})
        }
        if (depth === requestDepth) inRequest = text.charCodeAt(at) === openBrace
        break
      case closeBrace:
      case closeBracket:
        if (depth === requestDepth) {
          endMember(at)
          inRequest = false
        }
        // Ends a single request, or the last one of a batch.
        if (depth === 1) endRequest()
        depth--
        break
      case colon:
        if (inRequest && depth === requestDepth && valueStart < 0) valueStart = at + 1
        break
      case comma:
        if (inRequest && depth === requestDepth) endMember(at)
        else if (depth === 1 && requestDepth === 2) endRequest()
        break
    }
  }
  return requests
}

function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === backslash) at++
    else if (code === quote) return at
  }
  return text.length
}

/** A key may be written with escapes: `"\u0069d"` is `id`. */
function keyName(source: string): string {
  if (!source.includes('\\')) return source.slice(1, -1)
  try {
    return String(JSON.parse(source))
  } catch {
    return ''
  }
}
