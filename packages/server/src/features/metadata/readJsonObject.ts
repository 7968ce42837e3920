import { isUtf8 } from 'node:buffer'
import { gunzipSync } from 'node:zlib'
import { parseExactJson } from '../../platform/parseExactJson.ts'
import type { InlineContent } from './dataUri.ts'
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
 * @param charset - a label of the WHATWG Encoding standard. A byte order mark, and UTF-16 that shows itself, overrule it.
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

/**
 * Decodes a text by its byte order mark, else as UTF-16 where JSON shows it (RFC 4627, section 3), else by the charset.
 * Servers call everything windows-1252 (latin1, ASCII) unasked, so that counts only for what is no UTF-8.
 */
function decode(bytes: Uint8Array, charset: string): string {
  try {
    const named = new TextDecoder(encodingShownBy(bytes) ?? charset)
    const isDefault = named.encoding === 'windows-1252' && isUtf8(bytes)
    return (isDefault ? new TextDecoder() : named).decode(bytes)
  } catch (cause) {
    throw metadataFailure('CONTENT', 'Unknown charset', charset, { cause })
  }
}

function encodingShownBy([first, second, third]: Uint8Array): string | undefined {
  if (first === 0xef && second === 0xbb && third === 0xbf) return 'utf-8'
  if ((first === 0xff && second === 0xfe) || (first !== 0 && second === 0)) return 'utf-16le'
  if ((first === 0xfe && second === 0xff) || (first === 0 && second !== 0)) return 'utf-16be'
  return undefined
}

/** Returns the same text in UTF-8, without a byte order mark. @throws {MetadataError} CONTENT: unknown charset. */
export function toUtf8(bytes: Uint8Array, charset: string): Uint8Array {
  const isPlain =
    encodingShownBy(bytes) === undefined && isUtf8(bytes) && /^(utf-8|windows-1252)$/.test(charset)
  return isPlain ? bytes : Buffer.from(decode(bytes, charset))
}

/** Reads the `charset` of a Content-Type header; UTF-8 where it names none, or none that is known. */
export function charsetOf(contentType: string): string {
  const [, quoted, plain] = /;\s*charset\s*=\s*(?:"([^"]*)"|([^\s;"]+))/i.exec(contentType) ?? []
  const label = quoted ?? plain ?? ''
  try {
    return new TextDecoder(label).encoding
  } catch {
    return 'utf-8'
  }
}

/** Scans the text, because code that walks a deep value may not survive it. */
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

/** Memory of a member or element besides its text, about; an empty object takes 56. */
const valueBytes = 48

/**
 * About how much memory a document takes, in bytes. Its text alone says little: 2 MiB of `{},{},{}` become 40 MB.
 * @param textBytes - the length of its text.
 * @remarks As deep as the object is nested; `readJsonObject` has a bound on that.
 */
export function weighObject(data: JsonObject, textBytes: number): number {
  return textBytes + valueBytes * countValues(data)
}

function countValues(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1
  let count = 1
  if (Array.isArray(value)) for (const item of value) count += countValues(item)
  else for (const key in value) count += countValues((value as Record<string, unknown>)[key])
  return count
}

/** As large as a fetched document may be once it is unpacked (spec/openrpc.json, x-limits). */
const maxUnpackedBytes = 2 * 1024 * 1024

/** Metadata that a URI held itself. */
export interface InlineObject {
  readonly data: JsonObject
  /** See `weighObject`. */
  readonly weight: number
}

/**
 * Reads the object inside a `data:` URI. Some contracts store it gzipped to save gas and say so in ways of their own; the
 * first bytes tell, since no JSON begins like that.
 * @throws {MetadataError} ENCODING: does not unpack to at most 2 MiB; TOO_LARGE: over 2 MiB; CONTENT: as `readJsonObject`.
 */
export function readInlineObject({ bytes, charset }: InlineContent): InlineObject {
  const text = bytes[0] === 0x1f && bytes[1] === 0x8b ? unpack(bytes) : bytes
  // Ids put into a URI can make it many times as long as it is on chain.
  if (text.length > maxUnpackedBytes)
    throw metadataFailure('TOO_LARGE', `Object of over ${maxUnpackedBytes} bytes`)
  const data = readJsonObject(text, charset)
  return { data, weight: weighObject(data, text.length) }
}

function unpack(bytes: Uint8Array): Uint8Array {
  try {
    return gunzipSync(bytes, { maxOutputLength: maxUnpackedBytes })
  } catch (cause) {
    throw metadataFailure(
      'ENCODING',
      `gzip that does not unpack to at most ${maxUnpackedBytes} bytes`,
      undefined,
      {
        cause
      }
    )
  }
}
