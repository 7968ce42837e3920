import type { Call } from './Call.ts'
import type { Answer, CallOptions } from './ClientOptions.ts'
import { type ErrorDetails, TransportError } from './errors.ts'
import { readAnswer } from './readAnswer.ts'
import { readNumber, type Settings } from './readOptions.ts'
import { type End, startDeadline } from './startDeadline.ts'
import { pagesAdvice } from './toRpcError.ts'
import { type Transport, toNetworkFailure } from './transport.ts'

const firstPauseMs = 250

/**
 * Sends calls of one endpoint in one POST, then again those that failed in a way that may pass, under one deadline.
 * Each call then has its value or its error.
 *
 * @param calls - At least one; exactly one where no list goes out.
 * @throws {ConfigurationError} An option of the call cannot work, or `auth` failed.
 * @remarks Errors are made here, after an `await`, and not in timers and listeners: so their stack reaches the caller.
 */
export async function sendCalls(
  settings: Settings,
  transport: Transport,
  calls: readonly Call[],
  options: CallOptions,
  isBatch: boolean
): Promise<void> {
  const { maxDelayMs, maxResponseBytes, baseUrl, origin, sign } = settings
  const [first] = calls as [Call]
  const { name } = first
  const { signal: signalOption } = options
  const timeoutMs = readNumber('timeoutMs', 1, settings.timeoutMs, options, name)
  const retries = readNumber('retries', 0, settings.retries, options, name)
  const endMs = Date.now() + timeoutMs
  const { signal, race, release } = startDeadline(timeoutMs, signalOption)
  let open = calls
  let attempts = 0
  let count = 'nothing was sent'
  let answer: Answer | undefined
  let pause: ReturnType<typeof setTimeout> | undefined

  const fail = (
    code: TransportError['code'],
    text: string,
    details?: Partial<ErrorDetails>,
    options?: { readonly cause: unknown }
  ) => {
    for (const call of open) {
      call.error = new TransportError(
        text,
        { ...details, code, method: call.name, origin, attempts },
        options
      )
    }
  }
  const giveUp = (end: End) =>
    end === 'ABORTED'
      ? fail(end, `aborted by its signal (${count})`, {}, { cause: signalOption?.reason })
      : fail(end, `no complete answer from ${origin} within ${timeoutMs} ms (${count})`, { retryable: true })

  try {
    for (;;) {
      if (signal.aborted) return giveUp('ABORTED')
      const signing = sign(name)
      const signed = signing instanceof Promise ? await race(signing) : signing
      if (typeof signed === 'string') return giveUp(signed)
      count = `attempt ${++attempts} of ${retries + 1}`
      const bodies = `${open.map(({ body }) => body)}`
      const response = await race(
        transport({
          url: baseUrl + first.endpoint,
          headers: { ...signed.headers, Accept: 'application/json', 'Content-Type': 'application/json' },
          body: isBatch ? `[${bodies}]` : bodies,
          signal,
          maxResponseBytes
        }).catch(toNetworkFailure)
      )
      if (typeof response === 'string') return giveUp(response)
      if ('reason' in response) {
        fail('NETWORK', `no complete answer from ${origin} (${response.reason}, ${count})`, response)
      } else if (response.text === undefined) {
        fail(
          'RESPONSE_LIMIT',
          `the answer is larger than maxResponseBytes (${maxResponseBytes})${pagesAdvice}`
        )
      } else {
        const { text } = response
        const { int64 } = settings
        readAnswer(response, text, open, { isBatch, int64, origin, attempts, count, secrets: signed.secrets })
        const requestId = response.header('x-request-id')
        answer = { ...response, text, attempts, ...(requestId && { requestId }) }
      }
      // A history that is still being read took all the time of a call: its progress is worth more than a second try.
      open = open.filter(
        ({ error }) =>
          error?.retryable &&
          error.reason !== 'STILL_READING' &&
          !((error.retryAfterMs as number) > maxDelayMs)
      )
      if (attempts > retries || !open.length) break
      // Full jitter: callers that failed together do not come back together.
      const pauseMs =
        Math.max(...open.map(({ error }) => error?.retryAfterMs ?? 0)) +
        Math.random() * Math.min(maxDelayMs, firstPauseMs * 2 ** (attempts - 1))
      if (Date.now() + pauseMs >= endMs) break
      const end = await race(
        new Promise<void>(resolve => {
          pause = setTimeout(resolve, pauseMs)
        })
      )
      if (end) return giveUp(end)
    }
  } finally {
    clearTimeout(pause)
    release()
  }
  if (answer && !first.error) options.onAnswer?.(answer)
}
