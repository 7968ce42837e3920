import { errors } from '@chain-data/protocol'
import { RpcError } from './errors.ts'
import type { Redact } from './redact.ts'

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
  /** From the `Retry-After` header. */
  readonly retryAfterMs: number | undefined
  readonly redact: Redact
}

interface TableEntry {
  readonly code: number
  readonly retryable: boolean
}

const table: Readonly<Record<string, TableEntry>> = errors
const longestMessage = 500

export function isErrorObject(value: unknown): value is ErrorObject {
  if (typeof value !== 'object' || value === null) return false
  const { code, message } = value as Record<string, unknown>
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
  const { method, status, redact } = context
  const { code: rpcCode } = error
  const data = redact(error.data)
  const reason = readReason(memberOf(error.data, 'reason'), redact)
  const detail = memberOf(data, 'extraMessage')
  const said = [redact(error.message), typeof detail === 'string' ? detail : ''].filter(Boolean).join(': ')
  return new RpcError(`${method}: ${toOneLine(said)} (${[rpcCode, reason].filter(Boolean).join(' ')})`, {
    rpcCode,
    status,
    reason,
    data,
    retryable: isRetryable(reason, rpcCode, status),
    retryAfterMs: readWait(memberOf(error.data, 'retryAfterMs')) ?? context.retryAfterMs
  })
}

function isRetryable(reason: string | undefined, code: number, status: number): boolean {
  if (reason !== undefined && Object.hasOwn(table, reason)) return table[reason]?.retryable ?? false
  if (isRetryableStatus(status)) return true
  const cases = Object.values(table).filter(entry => entry.code === code)
  return cases.length > 0 && cases.every(entry => entry.retryable)
}

function readReason(value: unknown, redact: Redact): string | undefined {
  if (typeof value !== 'string') return undefined
  if (Object.hasOwn(table, value)) return value
  return /^[A-Z][A-Z0-9_]{0,63}$/.test(value) && redact(value) === value ? value : undefined
}

function readWait(value: unknown): number | undefined {
  return typeof value === 'number' && value >= 0 ? value : undefined
}

function memberOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined
  return (value as Record<string, unknown>)[name]
}

/** Server text goes into logs: one line, no terminal sequences, not endless. */
function toOneLine(text: string): string {
  return text.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ').slice(0, longestMessage)
}
