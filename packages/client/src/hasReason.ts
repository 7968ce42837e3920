import type { ErrorDataOf, ErrorReason } from '@chain-data/protocol'
import { RpcError } from './errors.ts'

/**
 * Whether the service refused for this reason of its error table; `data` then has its type.
 *
 * @example
 * if (hasReason(error, 'CURSOR_REORGED')) restartBelow(error.data.lastCommonBlock)
 */
export function hasReason<R extends ErrorReason>(
  error: unknown,
  reason: R
): error is RpcError & { readonly reason: R; readonly data: ErrorDataOf[R] } {
  return error instanceof RpcError && error.reason === reason
}
