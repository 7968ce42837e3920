import { IndexDamagedError, StoreError, storeFaults } from '@chain-data/index'
import { createErrorObject, type ErrorReason, type RpcErrorObject } from '@chain-data/protocol'
import { describeCause, lacksDescriptors } from '../../platform/describeCause.ts'
import type { Logger } from '../../platform/logger.ts'
import { Refusal } from '../../platform/refusal.ts'

/** A failure as the caller gets it. */
export interface WireError {
  readonly reason: ErrorReason
  readonly error: RpcErrorObject
}

/**
 * Makes the error that leaves the server, for every failure. A mistake of the caller is explained in full; the failure of a
 * node or store by its cause and the next step, and a bug by nothing but the id under which the log has its stack.
 */
export function toWireError(
  failure: unknown,
  call: { readonly requestId: string; readonly method?: string; readonly logger: Logger }
): WireError {
  const { requestId, method, logger } = call
  const fields = { requestId, error: failure, ...(method === undefined ? {} : { method }) }
  if (failure instanceof Refusal) return refusalError(failure)
  if (failure instanceof IndexDamagedError) return damageError(failure.damage.block)
  if (failure instanceof StoreError && failure.context.fault === storeFaults.damagedPage) {
    logger.error('the index is damaged', fields)
    return damageError(undefined)
  }
  const extraMessage = describeCause(failure)
  if (extraMessage !== undefined && lacksDescriptors(failure)) {
    logger.warn('the server is out of file descriptors', fields)
    const retryAfterMs = 1_000
    return { reason: 'OVERLOADED', error: createErrorObject('OVERLOADED', { extraMessage, retryAfterMs }) }
  }
  if (extraMessage !== undefined) {
    const failed = failure instanceof StoreError ? 'store failed a call' : 'node failed a call'
    logger.warn(failed, fields)
    return {
      reason: 'UPSTREAM_UNAVAILABLE',
      error: createErrorObject('UPSTREAM_UNAVAILABLE', { extraMessage })
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

/** Time within which a damaged block is replaced, as a rule. */
const healingMs = 10_000

/** Makes the error of a call that needs a damaged part of the index; whoever reads the index logs and counts it. */
function damageError(block: number | undefined): WireError {
  const where = block === undefined ? '' : ` at block ${block}`
  const extraMessage = `The chain's index is damaged${where}: nothing is answered from there until that is repaired. Try again.`
  const data = {
    extraMessage,
    retryAfterMs: healingMs,
    ...(block === undefined ? {} : { blockNumber: block })
  }
  return { reason: 'INDEX_DAMAGED', error: createErrorObject('INDEX_DAMAGED', data) }
}

/** Makes the error of a refusal, in full. */
function refusalError({ reason, message, data }: Refusal): WireError {
  return { reason, error: createErrorObject(reason, { ...data, extraMessage: message }) }
}
