import type { EndpointPath } from '@chain-data/protocol'
import type { Settled } from './Client.ts'
import type { Answer, CallOptions } from './ClientOptions.ts'
import type { ChainDataClientError } from './errors.ts'
import { type Asked, readAnswer } from './readAnswer.ts'
import { checkNumber, type Settings } from './readOptions.ts'
import { sign } from './sign.ts'
import type { Transport } from './transport.ts'
import { withDeadline } from './withDeadline.ts'

const firstPauseMs = 250

/** One call as it goes on the wire. */
export interface WireCall extends Asked {
  readonly endpoint: EndpointPath
  /** `{"jsonrpc":"2.0",…}`, written once for all attempts. */
  readonly body: string
}

/**
 * Sends calls of one endpoint in one POST, then again those that failed in a way that may pass, under one deadline.
 *
 * @param calls - At least one; exactly one where no list goes out.
 * @returns One outcome for each call.
 * @throws {ConfigurationError} An option of the call cannot work.
 */
export async function sendCalls(
  settings: Settings,
  transport: Transport,
  calls: readonly WireCall[],
  { signal, timeoutMs = settings.timeoutMs, retries = settings.retries, onAnswer }: CallOptions,
  isBatch: boolean
): Promise<Map<WireCall, Settled<unknown>>> {
  checkNumber('timeoutMs', timeoutMs, 1, Number.POSITIVE_INFINITY)
  checkNumber('retries', retries, 0)
  const { maxDelayMs, maxResponseBytes, int64 } = settings
  const endMs = Date.now() + timeoutMs
  const outcomes = new Map<WireCall, Settled<unknown>>()
  let open = calls
  let answer: Answer | undefined
  let pause: ReturnType<typeof setTimeout> | undefined

  const fail = (reason: unknown) => {
    // What is caught here is thrown by this package: transports let nothing else through.
    for (const call of open)
      outcomes.set(call, { status: 'rejected', reason: reason as ChainDataClientError })
  }

  async function attempt(attempts: number, over: AbortSignal): Promise<void> {
    const { headers, secrets } = await sign(settings)
    if (over.aborted) return
    const bodies = open.map(({ body }) => body)
    const response = await transport({
      url: settings.baseUrl + (open[0] as WireCall).endpoint,
      headers: { ...headers, Accept: 'application/json', 'Content-Type': 'application/json' },
      body: isBatch ? `[${bodies}]` : `${bodies}`,
      signal: over,
      maxResponseBytes
    })
    if (over.aborted) return
    const read = readAnswer(response, open, { isBatch, int64, secrets })
    for (const [index, call] of open.entries()) outcomes.set(call, read[index] as Settled<unknown>)
    const { status, text, header } = response
    const requestId = header('x-request-id')
    answer = { status, attempts, text, ...(requestId && { requestId }) }
  }

  try {
    await withDeadline({ timeoutMs, signal }, async over => {
      for (let attempts = 1; ; attempts++) {
        // What fails after the end is a consequence of it.
        await attempt(attempts, over).catch(error => over.aborted || fail(error))
        let pauseMs = 0
        const again = open.filter(call => {
          const outcome = outcomes.get(call)
          if (outcome?.status !== 'rejected' || !outcome.reason.retryable) return false
          const { retryAfterMs = 0 } = outcome.reason
          if (retryAfterMs > maxDelayMs) return false
          pauseMs = Math.max(pauseMs, retryAfterMs)
          return true
        })
        // Full jitter: callers that failed together do not come back together.
        pauseMs += Math.random() * Math.min(maxDelayMs, firstPauseMs * 2 ** (attempts - 1))
        if (again.length === 0 || attempts > retries || Date.now() + pauseMs >= endMs || over.aborted) return
        open = again
        await new Promise(resolve => {
          pause = setTimeout(resolve, pauseMs)
        })
      }
    })
  } catch (error) {
    // A pause that was cut short never ends; what waits for it is forgotten with it.
    clearTimeout(pause)
    fail(error)
  }
  if (answer && outcomes.get(calls[0] as WireCall)?.status === 'fulfilled') onAnswer?.(answer)
  return outcomes
}
