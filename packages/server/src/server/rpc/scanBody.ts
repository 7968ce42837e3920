/** What is told of one request. */
export interface RequestScan {
  /** Text of the id, exactly as the caller wrote it: its digits count. */
  readonly id?: string
  /** The same of the chain. */
  readonly chainId?: string
  /** Those of its members (`memberNames`) that are given more than once. */
  readonly repeated: readonly string[]
}

/** The members of a request that mean something. */
export const memberNames: ReadonlySet<string> = new Set(['jsonrpc', 'id', 'method', 'chainId', 'params'])

/** What a request body's text tells that its parsed value does not. */
export interface BodyScan {
  readonly tooDeep: boolean
  /** One for each element of a batch, or a single one; `undefined` for one that has no member of a request. */
  readonly requests: readonly (RequestScan | undefined)[]
}

const quote = 0x22
const comma = 0x2c
const colon = 0x3a
const openBracket = 0x5b
const backslash = 0x5c
const closeBracket = 0x5d
const openBrace = 0x7b
const closeBrace = 0x7d

/**
 * Walks over a JSON text once, without building anything: measures its depth before a parser meets it, and finds
 * what a parser hides. That is the source of `id` and `chainId`, because parsing rounds numbers, and members given
 * twice, of which parsers choose different ones, so that a gateway in front may have judged another request than the
 * one that is answered. Whether the text is JSON at all is left to the parser: for other texts the result means nothing.
 */
export function scanBody(text: string, maxDepth: number): BodyScan {
  const requestDepth = /^\s*\[/.test(text) ? 2 : 1
  const requests: (RequestScan | undefined)[] = []
  let current: { id?: string; chainId?: string; repeated: string[] } | undefined
  let seen = new Set<string>()
  let depth = 0
  let inRequest = false
  let key: string | undefined
  let valueStart = -1

  const endMember = (end: number) => {
    if (valueStart >= 0 && key !== undefined && memberNames.has(key)) {
      current ??= { repeated: [] }
      if (seen.has(key)) current.repeated.push(key)
      seen.add(key)
      if (key === 'id' || key === 'chainId') current[key] = text.slice(valueStart, end).trim()
    }
    key = undefined
    valueStart = -1
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
        if (depth > maxDepth) return { tooDeep: true, requests: [] }
        if (depth === requestDepth) {
          inRequest = text.charCodeAt(at) === openBrace
          if (inRequest) seen = new Set()
        }
        break
      case closeBrace:
      case closeBracket:
        if (depth === requestDepth) {
          endMember(at)
          inRequest = false
        }
        // Ends a single request, or the last one of a batch.
        if (depth === 1) requests.push(current)
        depth--
        break
      case colon:
        if (inRequest && depth === requestDepth && valueStart < 0) valueStart = at + 1
        break
      case comma:
        if (inRequest && depth === requestDepth) endMember(at)
        else if (depth === 1 && requestDepth === 2) {
          requests.push(current)
          current = undefined
        }
        break
    }
  }
  return { tooDeep: false, requests }
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

/** Longer spellings of an integer within 2^53 exist, but nobody writes them in good faith. */
const longestSpelling = 40

/**
 * The integer that a JSON number's text stands for, judged by its digits: `1.0` and `1e3` are integers,
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
