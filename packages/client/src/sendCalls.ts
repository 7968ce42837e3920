import type { EndpointPath } from '@chain-data/protocol'
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
 * Each call then has its outcome.
 *
 * @param calls - At least one; exactly one where no list goes out.
 * @throws {ConfigurationError} An option of the call cannot work.
 */
export async function sendCalls(
  { auth, secrets: known, baseUrl, maxDelayMs, maxResponseBytes, int64, ...settings }: Settings,
  transport: Transport,
  calls: readonly WireCall[],
  { signal, timeoutMs = settings.timeoutMs, retries = settings.retries, onAnswer }: CallOptions,
  isBatch: boolean
): Promise<void> {
  checkNumber('timeoutMs', timeoutMs, 1)
  checkNumber('retries', retries, 0)
  const endMs = Date.now() + timeoutMs
  let open = calls
  let answer: Answer | undefined
  let pause: ReturnType<typeof setTimeout> | undefined

  const fail = (reason: unknown) => {
    // What is caught here is thrown by this package: transports let nothing else through.
    for (const call of open) call.outcome = { status: 'rejected', reason: reason as ChainDataClientError }
  }

  try {
    await withDeadline({ timeoutMs, signal }, async over => {
      for (let attempts = 1; ; attempts++) {
        try {
          const { headers, secrets } = await sign({ auth, secrets: known })
          if (over.aborted) return
          const bodies = `${open.map(({ body }) => body)}`
          const { status, text, header } = await transport({
            url: baseUrl + calls[0]?.endpoint,
            headers: { ...headers, Accept: 'application/json', 'Content-Type': 'application/json' },
            body: isBatch ? `[${bodies}]` : bodies,
            signal: over,
            maxResponseBytes
          })
          if (over.aborted) return
          readAnswer({ status, text, header }, open, { isBatch, int64, secrets })
          const requestId = header('x-request-id')
          answer = { status, attempts, text, ...(requestId && { requestId }) }
        } catch (error) {
          // What fails after the end is a consequence of it.
          if (over.aborted) return
          fail(error)
        }
        let pauseMs = 0
        open = open.filter(({ outcome }) => {
          if (attempts > retries || outcome?.status !== 'rejected') return false
          const { retryable, retryAfterMs = 0 } = outcome.reason
          if (!retryable || retryAfterMs > maxDelayMs) return false
          pauseMs = Math.max(pauseMs, retryAfterMs)
          return true
        })
        // Full jitter: callers that failed together do not come back together.
        pauseMs += Math.random() * Math.min(maxDelayMs, firstPauseMs * 2 ** (attempts - 1))
        if (!open.length || Date.now() + pauseMs >= endMs) return
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
  if (answer && calls[0]?.outcome?.status === 'fulfilled') onAnswer?.(answer)
}
