import { isUtf8 } from 'node:buffer'
import { transport } from '@chain-data/protocol'
import { Refusal } from '../../platform/refusal.ts'
import { bodyTooLarge } from './exchange.ts'
import type { Arrival, Guard } from './guards.ts'

/** What may stand behind the type: a UTF-8 charset. */
const parametersPattern = /^[ \t]*(;[ \t]*(charset=(utf-8|"utf-8")[ \t]*(;[ \t]*)?)?)?$/i
const jsonType = transport.requestContentType

/** Whether a body with these headers is JSON in UTF-8, sent as it is. */
export function isJsonMediaType(
  contentType: string | undefined,
  contentEncoding: string | undefined
): boolean {
  const isPlain = contentEncoding === undefined || /^identity$/i.test(contentEncoding)
  if (!isPlain || contentType?.slice(0, jsonType.length).toLowerCase() !== jsonType) return false
  return parametersPattern.test(contentType.slice(jsonType.length))
}

/** Guard: lets only JSON pass, judged by the headers. */
export const requireJson: Guard = ({ request }, next) => {
  if (isJsonMediaType(request.header('content-type'), request.header('content-encoding'))) return next({})
  throw new Refusal('UNSUPPORTED_MEDIA_TYPE', 'Send the body as application/json.', {})
}

/**
 * Guard: reads the body.
 *
 * @remarks The text is empty, which is not JSON either, where the bytes are not UTF-8: replacement characters would make
 *   different ids alike.
 */
export function readText(largestBytes: number): Guard<Arrival, { readonly text: string }> {
  return async ({ request }, next) => {
    const bytes = await request.readBody(largestBytes)
    if (bytes === bodyTooLarge) {
      throw new Refusal('BODY_TOO_LARGE', `The body may have ${largestBytes} bytes.`, {})
    }
    const { buffer, byteOffset, byteLength } = bytes
    return next({ text: isUtf8(bytes) ? Buffer.from(buffer, byteOffset, byteLength).toString() : '' })
  }
}
