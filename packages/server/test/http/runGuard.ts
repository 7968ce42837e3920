import type { HttpAnswer, HttpRequest } from '../../src/server/guards/exchange.ts'
import { Answered, type Arrival, type Guard } from '../../src/server/guards/guards.ts'

/** A request of which a test says what the guard reads. */
export function arrival(
  headers: Readonly<Record<string, string | undefined>> = {},
  change: Partial<HttpRequest> = {}
): Arrival {
  const request: HttpRequest = {
    method: 'POST',
    path: '/evm-chain',
    query: new URLSearchParams(),
    header: name => headers[name],
    readBody: async () => new Uint8Array(),
    signal: new AbortController().signal,
    ...change
  }
  return { request, requestId: 'r-1', cameMs: 0, answerHeaders: {} }
}

/**
 * Lets a guard judge a call.
 *
 * @returns what it found out, or its own answer where it answers the request itself.
 * @throws what it refuses with.
 */
export async function runGuard<Known extends object, Found extends object>(
  guard: Guard<Known, Found>,
  call: Known
): Promise<{ readonly found?: Found | undefined; readonly answer?: HttpAnswer }> {
  const found = await guard(call)
  return found instanceof Answered ? { answer: found.answer } : { found }
}
