import { NodeRpcError } from '../../platform/errors.ts'
import { UpstreamError } from '../upstreams/httpUpstream.ts'

/** The `error` member of a node's answer. */
export interface NodeError {
  readonly code: number
  readonly data?: unknown
}

/** The params are right, so it is this node that does not take them: an option that it lacks, an old version. */
const INVALID_PARAMS = -32602
/** Not there, or switched off. */
export const METHOD_NOT_FOUND = -32601
/** The operator has left this key out of the node's account indexes. */
const KEY_EXCLUDED = -32010
const UNHEALTHY = -32005
const MIN_CONTEXT_SLOT_NOT_REACHED = -32016
/** 429 in the body is what public endpoints write, -32429 what some hosts do. */
const THROTTLED = new Set([429, -32429])

/**
 * Conditions of one node that pass: broken inside; a block not there, its slot skipped, or its status not known yet;
 * a scan that was overtaken; the long-term storage out of reach.
 */
const PASSING = new Set([-32603, -32004, -32007, -32009, -32012, -32014, -32019])

/** Errors that a node means, even where its HTTP status says that it is broken. */
const MEANT = new Set([METHOD_NOT_FOUND, INVALID_PARAMS, KEY_EXCLUDED])

/**
 * What a node's error means for the call: {@link UpstreamError} where the same node may answer in a moment,
 * {@link NodeRpcError} where it will not. The node's own words may quote its URL or the request, so only the code is
 * passed on.
 *
 * @see the custom error codes of agave's `rpc-client-api`
 */
export function describeNodeError(
  upstreamName: string,
  method: string,
  { code, data }: NodeError,
  { status, ...patience }: { readonly status: number; readonly retryAfterMs?: number }
): UpstreamError | NodeRpcError {
  if (THROTTLED.has(code)) {
    return new UpstreamError(
      `${upstreamName} limits the rate of calls (error ${code})`,
      'throttled',
      patience
    )
  }
  if (code === UNHEALTHY || code === MIN_CONTEXT_SLOT_NOT_REACHED) {
    const slots = slotsBehind(data)
    const how = slots === undefined ? 'is behind or unwell' : `is ${slots} slots behind`
    return new UpstreamError(`${upstreamName} ${how} (error ${code})`, 'behind')
  }
  if (PASSING.has(code)) {
    return new UpstreamError(`${upstreamName} cannot answer ${method} now (error ${code})`, 'behind')
  }
  if (status >= 500 && !MEANT.has(code)) {
    return new UpstreamError(`${upstreamName} is broken (HTTP ${status}, error ${code})`, 'unreachable')
  }
  return new NodeRpcError(`${upstreamName} ${refusalOf(code, method)}`, code, undefined)
}

function refusalOf(code: number, method: string): string {
  if (code === METHOD_NOT_FOUND) return `does not serve ${method} (error ${code})`
  if (code === KEY_EXCLUDED) return `keeps no index of this key for ${method} (error ${code})`
  return `answered error ${code}`
}

function slotsBehind(data: unknown): number | undefined {
  if (typeof data !== 'object' || data === null || !('numSlotsBehind' in data)) return undefined
  const slots = data.numSlotsBehind
  return typeof slots === 'number' && Number.isSafeInteger(slots) && slots > 0 ? slots : undefined
}
