import type { EndpointPath } from '@chain-data/protocol'
import type { Answer, CallOptions } from './ClientOptions.ts'
import {
  ChainDataClientError,
  type ErrorDetails,
  need,
  ProtocolError,
  reasonOf,
  TransportError
} from './errors.ts'
import type { AnswerText, Method } from './Method.ts'
import { parseRetryAfter } from './parseRetryAfter.ts'
import { readNumber, type Settings } from './readOptions.ts'
import { redact } from './redact.ts'
import { startDeadline } from './startDeadline.ts'
import { type ErrorObject, toRpcError } from './toRpcError.ts'
import type { Transport } from './transport.ts'

/** What every call object may hold, whatever its method. */
export interface CallObject extends CallOptions {
  readonly chainId?: number | undefined
  readonly endpoint?: EndpointPath | undefined
}

/** How a call is sent. */
export interface Sending extends Settings {
  readonly transport: Transport
  /**
   * Finds the answer to one call in an answer to several; absent: the answer is that to the call.
   *
   * @param check - Fails the call, for a reason, unless something holds.
   */
  readonly find?: (answers: unknown, id: number, check: (met: unknown, reason: string) => void) => unknown
}

const firstPauseMs = 250
const invalid = 'INVALID_ARGUMENT'

/**
 * Sends a call in a POST, then again where it failed in a way that may pass, under one deadline.
 *
 * @param params - By position; absent: made of the arguments in the call object.
 * @throws {ChainDataClientError} And nothing else, but what `onAnswer` throws.
 * @remarks Errors are made here, after an `await`, and not in timers and listeners: so their stack reaches the caller.
 */
export async function sendCall(
  id: number,
  { origin, sign, transport, find, ...settings }: Sending,
  method: Method,
  call: CallObject,
  params?: readonly unknown[]
): Promise<unknown> {
  const { name, prefixed, wireName = name, advice, result: kind } = method
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
  const endMs = Date.now() + timeoutMs
  const { signal, race, release } = startDeadline(timeoutMs, call.signal)
  let facts: Partial<ErrorDetails> = { method: name, origin, attempts: 0 }
  let attempts = 0
  let count = 'not sent'
  let pauseMs = 0
  let pause: ReturnType<typeof setTimeout> | undefined
  let answered: Answer
  let value: unknown

  const failure = (code: TransportError['code'], text: string, details?: Partial<ErrorDetails>) =>
    new TransportError(text, { ...facts, ...details, code })

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
        const { headers, secrets } = await race(sign(name))
        facts = { method: name, origin, attempts: ++attempts }
        count = `attempt ${attempts} of ${retries + 1}`
        const response = await race(
          transport(
            settings.baseUrl + endpoint,
            {
              method: 'POST',
              headers: { ...headers, Accept: 'application/json', 'Content-Type': 'application/json' },
              body,
              signal,
              redirect: 'manual'
            },
            settings.maxResponseBytes
          )
        )
        const { status, text, header } = response
        if (text === undefined) {
          const code = 'RESPONSE_LIMIT'
          throw failure(
            code,
            `the answer is larger than maxResponseBytes (${settings.maxResponseBytes})${advice?.(code) ?? ''}`
          )
        }
        const http = {
          ...facts,
          status,
          requestId: redact(header('x-request-id') ?? undefined, secrets) as string | undefined,
          retryable: /^(408|425|429|50[0234])$/.test(`${status}`),
          retryAfterMs: parseRetryAfter(header('retry-after'))
        }
        const is200 = status === 200
        const fail = (reason: string): never => {
          throw new ProtocolError(`no valid answer from ${origin} (${reason}, ${count})`, {
            ...http,
            code: 'PROTOCOL',
            reason,
            retryable: false
          })
        }
        const check = (met: unknown, reason: string) => is200 && !met && fail(reason)
        const answerIn = (answers: unknown) => (find ? find(answers, id, check) : answers)
        try {
          response.json ??= JSON.parse(text)
        } catch {
          // The message of a syntax error quotes the text; JSON has no undefined.
        }
        const answer = answerIn(response.json)
        const { jsonrpc, id: given, result, error } = Object(answer) as Record<string, unknown>
        const failed = error !== undefined
        check(text.trim(), 'EMPTY_BODY')
        check(response.json !== undefined, 'NOT_JSON')
        check(isObject(answer), 'NOT_AN_OBJECT')
        check(jsonrpc === '2.0', 'WRONG_VERSION')
        // A request that the server could not read is answered without its id.
        check(given === id || (failed && given === null), 'WRONG_ID')
        check(failed === (result === undefined), failed ? 'RESULT_AND_ERROR' : 'NO_RESULT')
        const { code, message } = Object(error) as Record<string, unknown>
        if (Number.isInteger(code) && typeof message === 'string') {
          throw toRpcError(error as ErrorObject, method, body, http, secrets)
        }
        check(!failed, 'MALFORMED_ERROR')
        if (!is200) {
          throw failure('HTTP', `HTTP status ${status} from ${origin} (${count})`, {
            ...http,
            reason: status ? `STATUS_${status}` : 'REDIRECT'
          })
        }
        check(kind !== 'list' || Array.isArray(result), 'NOT_A_LIST')
        check(kind !== 'object' || isObject(result), 'NOT_AN_OBJECT')
        value = result
        if (method.read) {
          const resultIn = (other: unknown) => (answerIn(other) as { result: unknown }).result
          const reading = { form: settings.int64, answer: response as AnswerText, resultIn, fail }
          value = method.read(method, result, reading)
        }
        const { requestId } = http
        answered = { status, text, header, attempts, ...(requestId && { requestId }) }
        break
      } catch (error) {
        let last = error as ChainDataClientError
        if (!(error instanceof ChainDataClientError)) {
          const { code, cause } = Object(error) as { code?: unknown; cause?: { code?: unknown } }
          const reason = reasonOf(cause?.code ?? code) ?? 'UNKNOWN'
          last =
            error === 'ABORTED'
              ? failure(error, `aborted by its signal (${count})`, { cause: call.signal?.reason })
              : error === 'TIMEOUT'
                ? failure(error, `no complete answer from ${origin} within ${timeoutMs} ms (${count})`, {
                    retryable: true
                  })
                : failure('NETWORK', `no complete answer from ${origin} (${reason}, ${count})`, {
                    reason,
                    // A certificate does not become valid by asking again.
                    retryable: !/CERT|TLS|SSL/.test(reason)
                  })
        }
        const { retryable, reason, retryAfterMs = 0 } = last
        // Full jitter: callers that failed together do not come back together.
        pauseMs =
          retryAfterMs + Math.random() * Math.min(settings.maxDelayMs, firstPauseMs * 2 ** (attempts - 1))
        if (
          !retryable ||
          attempts > retries ||
          signal.aborted ||
          // A history that is still being read took all the time of a call: its progress is worth more than a second try.
          reason === 'STILL_READING' ||
          retryAfterMs > settings.maxDelayMs ||
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
  call.onAnswer?.(answered)
  return value
}

function isObject(value: unknown): boolean {
  return value === Object(value) && !Array.isArray(value)
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
