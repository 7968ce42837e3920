import type { EndpointPath } from '@chain-data/protocol'
import type { CallOptions } from './ClientOptions.ts'
import { ChainDataClientError, need, reasonOf, TransportError } from './errors.ts'
import type { Method } from './Method.ts'
import { type Answering, type Attempt, type ReadAnswer, readAnswer } from './readAnswer.ts'
import { readNumber, type Settings } from './readOptions.ts'
import { startDeadline } from './startDeadline.ts'
import type { Transport } from './transport.ts'

/** What every call object may hold, whatever its method. */
export interface CallObject extends CallOptions {
  readonly chainId?: number | undefined
  readonly endpoint?: EndpointPath | undefined
}

/** How a call is sent. */
export interface Sending extends Settings, Answering {
  readonly transport: Transport
}

const firstPauseMs = 250
const invalid = 'INVALID_ARGUMENT'

/**
 * Sends a call in a POST, then again where it failed in a way that may pass, under one deadline.
 *
 * @param params - By position; absent: made of the arguments in the call object.
 * @throws {ChainDataClientError} And nothing else, but what `onAnswer` throws.
 * @remarks Errors are made after an `await` of this function, and not in timers and listeners: so their stack reaches the caller.
 */
export async function sendCall(
  id: number,
  sending: Sending,
  method: Method,
  call: CallObject,
  params?: readonly unknown[]
): Promise<unknown> {
  const { origin, maxDelayMs } = sending
  const { body, endpoint, timeoutMs, retries } = writeCall(id, sending, method, call, params)
  const endMs = Date.now() + timeoutMs
  const { signal, race, release } = startDeadline(timeoutMs, call.signal)
  let attempts = 0
  const attempt = (): Attempt => ({
    facts: { method: method.name, origin, attempts },
    count: attempts ? `attempt ${attempts} of ${retries + 1}` : 'not sent'
  })
  let pauseMs = 0
  let pause: ReturnType<typeof setTimeout> | undefined
  let read: ReadAnswer

  try {
    for (;;) {
      try {
        if (pauseMs) {
          await race(
            new Promise<void>(resolve => {
              pause = setTimeout(resolve, pauseMs)
            })
          )
        }
        const { headers, secrets } = await race(sending.sign(method.name))
        attempts++
        const response = await race(
          sending.transport(
            sending.baseUrl + endpoint,
            {
              method: 'POST',
              headers: { ...headers, Accept: 'application/json', 'Content-Type': 'application/json' },
              body,
              signal,
              redirect: 'manual'
            },
            sending.maxResponseBytes
          )
        )
        read = readAnswer(response, sending, { ...attempt(), id, method, body, secrets })
        break
      } catch (error) {
        const last = toClientError(error, attempt(), timeoutMs, call.signal)
        const { retryable, reason, retryAfterMs = 0 } = last
        // Full jitter: callers that failed together do not come back together.
        pauseMs = retryAfterMs + Math.random() * Math.min(maxDelayMs, firstPauseMs * 2 ** (attempts - 1))
        if (
          !retryable ||
          attempts > retries ||
          signal.aborted ||
          // A history that is still being read took all the time of a call: its progress is worth more than a second try.
          reason === 'STILL_READING' ||
          retryAfterMs > maxDelayMs ||
          Date.now() + pauseMs >= endMs
        ) {
          throw last
        }
      }
    }
  } finally {
    clearTimeout(pause)
    release()
  }
  const [result, answer] = read
  call.onAnswer?.(answer)
  return result
}

/**
 * Checks a call and writes its request.
 *
 * @throws {ConfigurationError} Names the argument.
 */
function writeCall(
  id: number,
  settings: Settings,
  method: Method,
  call: CallObject,
  params: readonly unknown[] | undefined
) {
  const { name, prefixed, wireName = name } = method
  needObject(name, call)
  const { endpoint = method.endpoints[0] } = call
  need(
    /^\/(evm-chain|solana)$/.test(`${endpoint}`),
    `endpoint must be /evm-chain or /solana; got ${endpoint}`,
    'ENDPOINT_MISSING',
    name
  )
  const chainId = readNumber('chainId', 0, settings.chainId, call, name)
  const timeoutMs = readNumber('timeoutMs', 1, settings.timeoutMs, call, name)
  const retries = readNumber('retries', 0, settings.retries, call, name)
  need(chainId !== undefined || method.chainless, 'chainId is missing', 'CHAIN_ID_MISSING', name)
  const request = {
    jsonrpc: '2.0',
    id,
    method: (prefixed ? settings.methodPrefix : '') + wireName,
    chainId,
    params: params ?? toParams(method, call)
  }
  let body = ''
  try {
    body = JSON.stringify(request)
  } catch {
    need(false, 'the arguments must be JSON', invalid, name)
  }
  return { body, endpoint, timeoutMs, retries }
}

/** What ended an attempt, as an error of this client: it may be a deadline, or the error of an HTTP library. */
function toClientError(
  error: unknown,
  { facts, count }: Attempt,
  timeoutMs: number,
  signal: CallObject['signal']
): ChainDataClientError {
  if (error instanceof ChainDataClientError) return error
  if (error === 'ABORTED') {
    return new TransportError(`aborted by its signal (${count})`, {
      ...facts,
      code: error,
      cause: signal?.reason
    })
  }
  const incomplete = `no complete answer from ${facts.origin}`
  if (error === 'TIMEOUT') {
    return new TransportError(`${incomplete} within ${timeoutMs} ms (${count})`, {
      ...facts,
      code: error,
      retryable: true
    })
  }
  const { code, cause } = Object(error) as { code?: unknown; cause?: { code?: unknown } }
  const reason = reasonOf(cause?.code ?? code) ?? 'UNKNOWN'
  return new TransportError(`${incomplete} (${reason}, ${count})`, {
    ...facts,
    code: 'NETWORK',
    reason,
    // A certificate does not become valid by asking again.
    retryable: !/CERT|TLS|SSL/.test(reason)
  })
}

/** @throws {ConfigurationError} Not an object, which only types prevent. */
export function needObject(name: string, call: unknown): asserts call is object {
  if (typeof call === 'object' && call) return
  need(false, `takes one object; got ${String(call).slice(0, 100)}`, invalid, name)
}

/** The params of a call by position, made of its arguments; what is absent at their end is left out. */
function toParams({ name, params = [] }: Method, call: object): unknown[] {
  const given = call as Record<string, unknown>
  const values = params.map(param => {
    if (typeof param !== 'string') {
      const isGiven = param.some(member => given[member] !== undefined)
      return isGiven ? Object.fromEntries(param.map(member => [member, given[member]])) : undefined
    }
    const [argument, other] = param.split(/[|?]/) as [string, string?]
    const value = given[argument] ?? given[`${other}`]
    need(value != null || param.endsWith('?'), `${argument} is missing`, invalid, name)
    return value
  })
  while (values.length && values.at(-1) === undefined) values.pop()
  return values
}
