/** The content of a `data:` URI. */
export interface InlineContent {
  /** Lower case, without parameters; `text/plain` where the URI names none. */
  readonly mediaType: string
  /** `charset` parameter, lower case; `utf-8` where the URI names none. */
  readonly charset: string
  readonly bytes: Uint8Array
}

const maxDataUriLength = 4 * 1024 * 1024

/** The part of a `data:` URI before its comma. */
interface Header {
  readonly mediaType: string
  readonly charset: string
  readonly isBase64: boolean
  readonly length: number
}

/**
 * Reads a `data:` URI as contracts write them, which is looser than RFC 2397: base64 with line ends, without padding
 * or in the URL alphabet; raw JSON with unescaped `#`, `%` and non-ASCII characters; `;utf8` for a charset.
 * @returns absent when it is no `data:` URI, has no comma, or its base64 is not base64.
 */
export function readDataUri(uri: string): InlineContent | undefined {
  const header = readHeader(uri)
  if (header === undefined) return undefined
  const { mediaType, charset, isBase64, length } = header
  const written = percentDecode(uri.slice(length))
  const bytes = isBase64 ? fromBase64(written) : written
  return bytes === undefined ? undefined : { mediaType, charset, bytes }
}

/** Media type of a `data:` URI, whose content is not looked at; absent when it is none. */
export function mediaTypeOf(uri: string): string | undefined {
  return readHeader(uri)?.mediaType
}

function readHeader(uri: string): Header | undefined {
  if (uri.length > maxDataUriLength || !/^data:/i.test(uri)) return undefined
  const comma = uri.indexOf(',')
  if (comma < 0) return undefined
  const [type = '', ...parameters] = uri
    .slice('data:'.length, comma)
    .split(';')
    .map(part => part.trim().toLowerCase())
  const charset = parameters.find(parameter => parameter.startsWith('charset='))?.slice('charset='.length)
  return {
    mediaType: /^[\w.+-]+\/[\w.+-]+$/.test(type) ? type : 'text/plain',
    charset: charset?.replace(/^"(.*)"$/, '$1') || 'utf-8',
    isBase64: parameters.includes('base64'),
    length: comma + 1
  }
}

/** Escapes become bytes, everything else UTF-8; a `%` that starts no escape stays what it is. */
function percentDecode(text: string): Buffer {
  const raw = Buffer.from(text, 'utf8')
  const out = Buffer.allocUnsafe(raw.length)
  let length = 0
  for (let i = 0; i < raw.length; i++) {
    const high = raw[i] === 0x25 ? hexDigit(raw[i + 1]) : -1
    const low = high < 0 ? -1 : hexDigit(raw[i + 2])
    if (low < 0) {
      out[length++] = raw[i] ?? 0
    } else {
      out[length++] = high * 16 + low
      i += 2
    }
  }
  return out.subarray(0, length)
}

function hexDigit(byte: number | undefined): number {
  if (byte === undefined) return -1
  const digit = Number.parseInt(String.fromCharCode(byte), 16)
  return Number.isNaN(digit) ? -1 : digit
}

function fromBase64(written: Buffer): Uint8Array | undefined {
  const digits = written.toString('latin1').replace(/[\t\n\f\r ]/g, '')
  if (!/^[A-Za-z0-9+/_-]*={0,2}$/.test(digits)) return undefined
  const unpadded = digits.replace(/=+$/, '')
  return unpadded.length % 4 === 1 ? undefined : Buffer.from(unpadded, 'base64')
}
