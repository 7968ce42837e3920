import { retryableCodes, retryableReasons } from '@chain-data/protocol'
import { type ErrorDetails, RpcError, reasonOf } from './errors.ts'
import type { Method } from './Method.ts'
import { redact } from './redact.ts'

/** The `error` member of a JSON-RPC answer, as far as it can be relied on. */
export interface ErrorObject {
  readonly code: number
  readonly message: string
  readonly data?: unknown
}

/**
 * The typed form of a JSON-RPC error, of this service's table or of any other server.
 *
 * @param http - What the HTTP answer says: status, request id, wait, and whether its status is retryable.
 * @remarks The error table decides what is retryable; for a reason it does not know, the HTTP status or the
 *   code does. A wait in the error's data counts before the header, which is in whole seconds.
 */
export function toRpcError(
  error: ErrorObject,
  method: Method,
  body: string,
  http: Partial<ErrorDetails> & { readonly retryable: boolean },
  secrets: readonly string[]
): RpcError {
  const { code: rpcCode, message, data } = redact(error, secrets) as ErrorObject
  const {
    reason: given,
    extraMessage,
    retryAfterMs,
    path,
    supportedChainIds
  } = Object(data) as Record<string, unknown>
  const reason = reasonOf(given)
  const said = [message, extraMessage].filter(text => typeof text === 'string' && text).join(': ')
  // Server text goes into logs: one line, no terminal sequences, not endless.
  let line = said.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ').slice(0, 500)
  if (typeof path === 'string') line = inWordsOf(method, body, line, path, secrets)
  if (Array.isArray(supportedChainIds))
    line += ` Served: ${supportedChainIds.join(', ').slice(0, 100) || 'none'}.`
  line += method.advice?.(reason) ?? ''
  return new RpcError(`${line} (${rpcCode}${reason ? ` ${reason}` : ''})`, {
    ...http,
    code: 'RPC',
    rpcCode,
    reason,
    data,
    retryable: http.retryable || retryableCodes.includes(rpcCode) || retryableReasons.includes(`${reason}`),
    ...(typeof retryAfterMs === 'number' && retryAfterMs >= 0 && { retryAfterMs })
  })
}

/** Names the argument behind a JSON pointer as the caller gave it, and its value. */
function inWordsOf(
  method: Method,
  body: string,
  line: string,
  path: string,
  secrets: readonly string[]
): string {
  const keys = path.slice(1).split('/')
  const value = keys.reduce((holder, key) => (Object(holder) as never)[key], JSON.parse(body))
  const [, position, ...rest] = keys
  const param = method.params?.[position as never]
  const name = param && (typeof param === 'string' ? [param.split(/[|?]/)[0], ...rest] : rest).join('.')
  const shown = `${JSON.stringify(redact(value, secrets))}`.slice(0, 100)
  const words = name ? line.replace(path, name) : line
  return value === undefined || words.includes(shown) ? words : `${words} Got ${shown}.`
}
