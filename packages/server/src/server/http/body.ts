import { isUtf8 } from 'node:buffer'
import { transport } from '@chain-data/protocol'
import { Refusal } from '../../platform/refusal.ts'
import { quotaRefusal, type TakenQuota } from '../rpc/answerCalls.ts'
import { type RequestBody, readBody } from '../rpc/readBody.ts'
import { bodyTooLarge } from './exchange.ts'
import type { Arrival, Guard } from './guards.ts'
import type { Quota } from './quota.ts'
import type { Identified } from './share.ts'

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

/** More than any call needs: a list of 100 contracts has 4,500 characters. */
const charactersPerCall = 32_768

/**
 * Guard: takes the calls of a body from the caller's quota and reads them. A single call needs room in the quota; of a
 * batch those that fit are answered.
 */
export function readCalls(
  quota: Quota,
  limits: { readonly jsonDepth: number; readonly batchEntries: number }
): Guard<Identified & { readonly text: string }, { readonly body: RequestBody; readonly quota: TakenQuota }> {
  return async ({ text, caller, address }, next) => {
    const take = quota.of(caller, address)
    // Reading takes the time of the thread by length, whatever is in it.
    const forLength = Math.floor(text.length / charactersPerCall)
    if (forLength > 0) requireRoom(await take(forLength, 'all'), forLength)
    let body: RequestBody
    try {
      body = readBody(text, limits)
    } catch (failure) {
      // Nonsense costs as much as a call, or it would be the cheap way to keep a server busy.
      requireRoom(await take(1), 1)
      throw failure
    }
    const taken = await take(body.requests.length)
    if (!body.isBatch) requireRoom(taken, 1)
    return next({ body, quota: taken })
  }
}

function requireRoom(taken: TakenQuota, calls: number): void {
  if (taken.allowed < calls) throw quotaRefusal(taken, 0)
}
