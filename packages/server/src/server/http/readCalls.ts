import { quotaRefusal, type TakenQuota } from '../rpc/answerCalls.ts'
import { type RequestBody, readBody } from '../rpc/readBody.ts'
import type { Guard } from './guards.ts'
import type { Quota } from './quota.ts'
import type { Identified } from './share.ts'

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
