import type { Batching, Call, Streaming } from './Call.ts'
import type { CallOptions } from './ClientOptions.ts'
import { type ErrorDetails, TransportError } from './errors.ts'
import { readAnswer } from './readAnswer.ts'
import { readNumber, type Settings } from './readOptions.ts'
import { startDeadline } from './startDeadline.ts'
import { type HttpResponse, type Transport, toNetworkFailure } from './transport.ts'

const firstPauseMs = 250

/**
 * Sends calls of one endpoint in one POST, then again those that failed in a way that may pass, under one deadline.
 * Each call then has its value or its error.
 *
 * @param calls - At least one; exactly one without `batching`.
 * @param streaming - How the answer to one call is read while it arrives.
 * @throws {ConfigurationError} An option of the call cannot work, or `auth` failed.
 * @remarks Errors are made here, after an `await`, and not in timers and listeners: so their stack reaches the caller.
 */
export async function sendCalls(
  settings: Settings,
  transport: Transport,
  calls: readonly Call[],
  options: CallOptions,
  batching?: Batching,
  streaming?: Streaming
): Promise<void> {
  const { maxDelayMs, maxResponseBytes, origin } = settings
  const [first] = calls as [Call]
  const { endpoint, method } = first
  const { name } = method
  const timeoutMs = readNumber('timeoutMs', 1, settings.timeoutMs, options, name)
  const retries = readNumber('retries', 0, settings.retries, options, name)
  const endMs = Date.now() + timeoutMs
  const { signal, race, release } = startDeadline(timeoutMs, options.signal)
  let open = calls
  let attempts = 0
  let count = 'not sent'
  let answer: HttpResponse | undefined
  let pause: ReturnType<typeof setTimeout> | undefined

  const fail = (code: TransportError['code'], text: string, details?: Partial<ErrorDetails>) => {
    for (const call of open) {
      call.error = new TransportError(text, { ...details, code, method: call.method.name, origin, attempts })
    }
  }

  try {
    for (;;) {
      const { headers, secrets } = await race(settings.sign(name))
      count = `attempt ${++attempts} of ${retries + 1}`
      const response = await race(
        transport(
          settings.baseUrl + endpoint,
          {
            method: 'POST',
            headers: {
              ...headers,
              Accept: streaming?.accept ?? 'application/json',
              'Content-Type': 'application/json'
            },
            body: (batching?.write ?? String)(open.map(({ body }) => body)),
            signal,
            redirect: 'manual'
          },
          maxResponseBytes,
          streaming?.read
        ).catch(toNetworkFailure)
      )
      if ('reason' in response) {
        fail('NETWORK', `no complete answer from ${origin} (${response.reason}, ${count})`, response)
      } else if (response.text === undefined) {
        const code = 'RESPONSE_LIMIT'
        const advice = method.advice?.(code) ?? ''
        fail(code, `the answer is larger than maxResponseBytes (${maxResponseBytes})${advice}`)
      } else {
        answer = response
        const { text } = response
        readAnswer(response, open, { ...settings, batching, attempts, count, secrets, text })
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
      await race(
        new Promise<void>(resolve => {
          pause = setTimeout(resolve, pauseMs)
        })
      )
    }
  } catch (end) {
    if (end === 'ABORTED') fail(end, `aborted by its signal (${count})`, { cause: options.signal?.reason })
    else if (end === 'TIMEOUT') {
      fail(end, `no complete answer from ${origin} within ${timeoutMs} ms (${count})`, { retryable: true })
    } else throw end
  } finally {
    clearTimeout(pause)
    release()
  }
  if (answer && !first.error) {
    const requestId = answer.header('x-request-id')
    options.onAnswer?.({
      ...(answer as HttpResponse & { text: string }),
      attempts,
      ...(requestId && { requestId })
    })
  }
}
