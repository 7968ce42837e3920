import { parseExactJson } from '../../platform/parseExactJson.ts'
import { metadataFailure } from './metadataFailure.ts'

/**
 * A JSON object as a stranger wrote it: any keys, `null` included, long integers as `bigint`. Read it, never merge it
 * into anything, and never hand it to JSON.stringify.
 */
export type JsonObject = Readonly<Record<string, unknown>>

/** As deep as the service's own requests may be (spec/openrpc.json, x-limits). */
const maxDepth = 64

/**
 * Reads a body that should be a JSON object. A key `__proto__` becomes an ordinary own key and is passed on; an integer
 * beyond 2^53 becomes a `bigint`; of equal keys the last one counts.
 *
 * @param charset - a label of the WHATWG Encoding standard.
 * @throws {MetadataError} CONTENT: unknown charset, no JSON, no object, nested deeper than 64, or an integer of over
 *   4300 digits.
 * @remarks Fractions lose digits beyond the 17th, as in every JavaScript reader, and 1e400 becomes null on the wire.
 *   Bytes that are no text of the charset become U+FFFD.
 */
export function readJsonObject(bytes: Uint8Array, charset = 'utf-8'): JsonObject {
  const text = decode(bytes, charset)
  if (isDeeperThan(text, maxDepth)) throw metadataFailure('CONTENT', `JSON nested deeper than ${maxDepth}`)
  let value: unknown
  try {
    value = parseExactJson(text)
  } catch (cause) {
    throw metadataFailure('CONTENT', 'Not JSON', text, { cause })
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw metadataFailure('CONTENT', 'JSON, but no object', text)
  }
  return value as JsonObject
}

function decode(bytes: Uint8Array, charset: string): string {
  try {
    return new TextDecoder(charset).decode(bytes)
  } catch (cause) {
    throw metadataFailure('CONTENT', 'Unknown charset', charset, { cause })
  }
}

/** Looks at the text, because code that walks a deep value afterwards may not survive it. */
function isDeeperThan(text: string, limit: number): boolean {
  let depth = 0
  let inString = false
  for (let i = 0; i < text.length; i++) {
    const char = text[i]
    if (inString) {
      if (char === '\\') i++
      else if (char === '"') inString = false
    } else if (char === '"') {
      inString = true
    } else if (char === '{' || char === '[') {
      if (++depth > limit) return true
    } else if (char === '}' || char === ']') {
      depth--
    }
  }
  return false
}
