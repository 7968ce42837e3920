import { StoreError, StoreUnavailableError } from '../../platform/errors.ts'
import { DatabaseError } from './driver.ts'

/** What `check_term` raises: another writer has taken over. */
export const termIsOver = 'CD001'
/** The database's user may not do that. */
export const insufficientPrivilege = '42501'
/** `max_connections`, or the limit of the user or the database, is reached. */
export const tooManyConnections = '53300'
/** `lock_timeout` has passed. */
export const lockNotAvailable = '55P03'

/**
 * What PostgreSQL says when it is the server that is in trouble, not the statement: classes 08 (connection), 53 (too many
 * connections, out of memory or disk), 57 (shutdown, restart, start-up, ended or cancelled by an operator), 25P03 (idle in a
 * transaction), and 40 (the statement lost against another: a deadlock, a conflict with recovery on a replica). A primary
 * that has become a replica says 25006.
 */
const passing = /^(08...|53[1-4]00|57014|57P0.|25P03|40...|25006)$/

/** The SQLSTATE that PostgreSQL answered with; absent when it did not answer. */
export function sqlStateOf(error: unknown): string | undefined {
  if (error instanceof DatabaseError) return error.code
  if (error instanceof StoreError && typeof error.context.sqlState === 'string') return error.context.sqlState
  return undefined
}

/**
 * The one shape of a failed PostgreSQL call. The message says what the server says of it, which names tables and limits,
 * never the statement; of a failure to reach the server only the system's code is told, since its text names the host.
 * @returns {StoreUnavailableError} the server is away, or ended the call for reasons of its own: the same call may succeed
 *   later, on a new connection.
 */
export function toStoreError(cause: unknown): StoreError {
  if (cause instanceof StoreError) return cause
  if (cause instanceof DatabaseError) {
    const { code = 'unknown', severity } = cause
    const message = `PostgreSQL refused: ${cause.message} (${code})`
    const lost = passing.test(code) || severity === 'FATAL'
    const Kind = lost && !isRefusedLogin(code) ? StoreUnavailableError : StoreError
    return new Kind(message, { sqlState: code }, { cause })
  }
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : undefined
  const reason = code === undefined ? '' : `: ${code}`
  return new StoreUnavailableError(`PostgreSQL cannot be reached${reason}`, { systemCode: code }, { cause })
}

/** Wrong password, no such role, no such database: trying again changes nothing. */
function isRefusedLogin(code: string): boolean {
  return code.startsWith('28') || code === '3D000'
}

/** The call failed because another writer has taken over: this one must never write again. */
export function isTermOver(error: unknown): boolean {
  return sqlStateOf(error) === termIsOver
}
