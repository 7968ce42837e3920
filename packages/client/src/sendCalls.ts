import type { EndpointPath } from '@chain-data/protocol'
import type { Answer, CallOptions } from './ClientOptions.ts'
import { type ChainDataClientError, TransportError } from './errors.ts'
import { type Asked, readAnswer } from './readAnswer.ts'
import { readNumber, type Settings } from './readOptions.ts'
import { networkError, type Transport } from './transport.ts'
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
 * Each call then has its value or its error.
 *
 * @param calls - At least one; exactly one where no list goes out.
 * @throws {ConfigurationError} An option of the call cannot work.
 */
export async function sendCalls(
  settings: Settings,
  transport: Transport,
  calls: readonly WireCall[],
  options: CallOptions,
  isBatch: boolean
): Promise<void> {
  const { maxDelayMs, maxResponseBytes } = settings
  const timeoutMs = readNumber('timeoutMs', 1, settings.timeoutMs, options)
  const retries = readNumber('retries', 0, settings.retries, options)
  const endMs = Date.now() + timeoutMs
  const [first] = calls as [WireCall]
  let open = calls
  let answer: Answer | undefined
  let pause: ReturnType<typeof setTimeout> | undefined

  const fail = (error: unknown) => {
    // What is caught here is thrown by this package: nothing of a transport gets through.
    for (const call of open) call.error = error as ChainDataClientError
  }

  try {
    await withDeadline({ ...options, timeoutMs }, async signal => {
      for (let attempts = 1; ; attempts++) {
        try {
          const { headers, secrets } = await settings.sign()
          if (signal.aborted) return
          const bodies = `${open.map(({ body }) => body)}`
          const response = await transport({
            url: settings.baseUrl + first.endpoint,
            headers: { ...headers, Accept: 'application/json', 'Content-Type': 'application/json' },
            body: isBatch ? `[${bodies}]` : bodies,
            signal,
            maxResponseBytes
          }).catch(error => {
            throw networkError(error)
          })
          if (signal.aborted) return
          const { text, header } = response
          if (text === undefined) {
            throw new TransportError(`the answer is larger than maxResponseBytes (${maxResponseBytes})`, {
              code: 'RESPONSE_LIMIT'
            })
          }
          readAnswer(response, text, open, isBatch, settings.int64, secrets)
          const requestId = header('x-request-id')
          answer = { ...response, text, attempts, ...(requestId && { requestId }) }
        } catch (error) {
          // What fails after the end is a consequence of it.
          if (signal.aborted) return
          fail(error)
        }
        // A history that is still being read took all the time of a call: its progress is worth more than a second try.
        open = open.filter(
          ({ error }) =>
            error?.retryable &&
            error.reason !== 'STILL_READING' &&
            !((error.retryAfterMs as number) > maxDelayMs)
        )
        // Full jitter: callers that failed together do not come back together.
        const pauseMs =
          Math.max(...open.map(({ error }) => error?.retryAfterMs ?? 0)) +
          Math.random() * Math.min(maxDelayMs, firstPauseMs * 2 ** (attempts - 1))
        if (attempts > retries || !open.length || Date.now() + pauseMs >= endMs) return
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
  if (answer && !first.error) options.onAnswer?.(answer)
}
