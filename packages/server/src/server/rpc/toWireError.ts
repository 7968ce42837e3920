import { createErrorObject, type ErrorReason, type RpcErrorObject } from '@chain-data/protocol'
import {
  ConfigError,
  NodeContradictionError,
  NodeRpcError,
  NodeUnavailableError,
  StoreError,
  StoreUnavailableError
} from '../../platform/errors.ts'
import type { Logger } from '../../platform/logger.ts'
import { Refusal } from '../../platform/refusal.ts'

/** A failure as the caller gets it. */
export interface WireError {
  readonly reason: ErrorReason
  readonly error: RpcErrorObject
}

/**
 * Makes the error that leaves the server, for every failure. A mistake of the caller is explained in full; the failure of a
 * node or store is named as its case only, and a bug by nothing but the id under which the log has its stack.
 */
export function toWireError(
  failure: unknown,
  call: { readonly requestId: string; readonly method?: string; readonly logger: Logger }
): WireError {
  const { requestId, method, logger } = call
  const fields = { requestId, error: failure, ...(method === undefined ? {} : { method }) }
  if (failure instanceof Refusal) return refusalError(failure)
  const upstreamMessage = describePassing(failure)
  if (upstreamMessage !== undefined) {
    const failed = failure instanceof StoreError ? 'store failed a call' : 'node failed a call'
    logger.warn(failed, fields)
    return {
      reason: 'UPSTREAM_UNAVAILABLE',
      error: createErrorObject('UPSTREAM_UNAVAILABLE', { extraMessage: upstreamMessage })
    }
  }
  logger.error('call failed', fields)
  return {
    reason: 'INTERNAL',
    error: createErrorObject('INTERNAL', {
      extraMessage: 'The server failed to answer this request.',
      requestId
    })
  }
}

/** Makes the error of a refusal, in full. */
export function refusalError({ reason, message, data }: Refusal): WireError {
  return { reason, error: createErrorObject(reason, { ...data, extraMessage: message }) }
}

/** Describes the failure of a node or store that may pass. */
function describePassing(failure: unknown): string | undefined {
  if (failure instanceof NodeUnavailableError) return "The chain's node did not answer in time."
  if (failure instanceof NodeContradictionError) return "The chain's node contradicts itself."
  // Of a running server's parts only the pool of a chain's nodes throws it, and has named the node in the log.
  if (failure instanceof ConfigError) return "The chain's node serves another chain."
  if (failure instanceof NodeRpcError) return "The chain's node refused a call that this method needs."
  if (failure instanceof StoreUnavailableError) return "The chain's index cannot be read at the moment."
  // The servers of the newer version can, to which the same call may come next: a server is not started over such an index.
  if (failure instanceof StoreError && failure.context.storedVersion !== undefined) {
    return "The chain's index is one of a newer version of this server."
  }
  return undefined
}
