import { decodeUtf8 } from './decodeUtf8.ts'

const headerPattern = /^Basic +([A-Za-z0-9+/]+={0,2})$/i

/**
 * Project id and key, which are user and password of an `Authorization: Basic` header (RFC 7617, UTF-8).
 *
 * @returns `undefined` for anything else, a repeated header included.
 */
export function readBasicCredentials(
  header: string | undefined
): { readonly projectId: string; readonly key: string } | undefined {
  const encoded = headerPattern.exec(header ?? '')?.[1]
  if (encoded === undefined || encoded.length % 4 !== 0) return undefined
  const text = decodeUtf8(Buffer.from(encoded, 'base64'))
  const colon = text?.indexOf(':') ?? -1
  if (text === undefined || colon < 0) return undefined
  return { projectId: text.slice(0, colon), key: text.slice(colon + 1) }
}
