import { retryableCodes, retryableReasons } from '@chain-data/protocol'
import { RpcError } from './errors.ts'
import { redact } from './redact.ts'

/** The `error` member of a JSON-RPC answer, as far as it can be relied on. */
export interface ErrorObject {
  readonly code: number
  readonly message: string
  readonly data?: unknown
}

/** What is known about a failure besides the error object itself. */
export interface ErrorContext {
  /** Wire name. */
  readonly method: string
  readonly status: number
  readonly requestId: string | undefined
  /** From the `Retry-After` header. */
  readonly retryAfterMs: number | undefined
  readonly secrets: readonly string[]
}

export function isErrorObject(value: unknown): value is ErrorObject {
  const { code, message } = Object(value) as Record<string, unknown>
  return Number.isInteger(code) && typeof message === 'string'
}

/** Whether an HTTP status alone says that another try may succeed. */
export function isRetryableStatus(status: number): boolean {
  return [408, 425, 429, 500, 502, 503, 504].includes(status)
}

/**
 * The typed form of a JSON-RPC error, of this service's table or of any other server.
 *
 * @remarks The error table decides what is retryable; for a reason it does not know, the HTTP status or the
 *   code does. A wait in the error's data counts before the header, which is in whole seconds.
 */
export function toRpcError(error: ErrorObject, context: ErrorContext): RpcError {
  const { method, status, requestId, secrets } = context
  const { code: rpcCode } = error
  const said = Object(error.data) as Record<string, unknown>
  const data = redact(error.data, secrets)
  const { reason: given, extraMessage } = Object(data) as Record<string, unknown>
  const reason = typeof given === 'string' && /^[A-Z][A-Z0-9_]{0,63}$/.test(given) ? given : undefined
  const message = [redact(error.message, secrets), typeof extraMessage === 'string' && extraMessage]
  return new RpcError(
    `${method}: ${toOneLine(message.filter(Boolean).join(': '))} (${[rpcCode, reason].filter(Boolean).join(' ')})`,
    {
      rpcCode,
      status,
      requestId,
      reason,
      data,
      retryable:
        retryableReasons.includes(reason as string) ||
        isRetryableStatus(status) ||
        (!reason && retryableCodes.includes(rpcCode)),
      retryAfterMs: Number(said.retryAfterMs) >= 0 ? Number(said.retryAfterMs) : context.retryAfterMs
    }
  )
}

/** Server text goes into logs: one line, no terminal sequences, not endless. */
function toOneLine(text: string): string {
  return text.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ').slice(0, 500)
}
