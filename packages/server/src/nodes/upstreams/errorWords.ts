import { NodeRpcError } from '../../platform/errors.ts'
import { plural } from '../../platform/plural.ts'
import { UpstreamError } from './upstreamError.ts'

/** The reaction that an error of a node asks for. */
export type NodeMessageKind =
  /** Come back later. */
  | 'throttled'
  /** The quota of the day or month is used up: come back much later. */
  | 'exhausted'
  /** The batch has too many calls, or batches are not taken at all. */
  | 'batchRefused'
  /** The answer would be too large; fewer calls at a time may fit. */
  | 'answerTooLarge'
  /** This node does not have the block or the state: it lags, or has pruned it. Another may. */
  | 'missingData'

interface MessageRule {
  readonly kind: NodeMessageKind
  readonly pattern: RegExp
  /** Only under these codes; absent: under any. */
  readonly codes?: readonly number[]
}

/**
 * Words of EVM nodes and their providers, first match wins. Each is taken from public documentation, source or reports;
 * the test beside this file holds the full texts.
 */
const evmRules: readonly MessageRule[] = [
  {
    kind: 'exhausted',
    pattern: /payment required|monthly capacity limit|daily (request|credit) (count|limit)/i
  },
  {
    kind: 'exhausted',
    pattern: /reached the (free tier|quota)|exceeded the quota|(call|usage) limit has been/i
  },
  { kind: 'throttled', pattern: /too many requests|rate.?limit|request rate exceeded|under too much load/i },
  {
    kind: 'throttled',
    pattern: /compute units per second|\bRPS limit|\/second request limit|server is busy/i
  },
  { kind: 'throttled', pattern: /requests limited to|requests per second|server overloaded/i },
  { kind: 'throttled', pattern: /(?:)/, codes: [429] },
  { kind: 'batchRefused', pattern: /batch(ed)? (request )?(was )?(too large|size|limit|requests? limit)/i },
  {
    kind: 'batchRefused',
    pattern: /batch(ed)? requests? (are|is) (not|disabled)|batch (is )?not supported/i
  },
  { kind: 'batchRefused', pattern: /(maximum|max) batch size|batch of more than|batch request amount/i },
  { kind: 'answerTooLarge', pattern: /batch ?response.*(too (large|big)|exceeded|limit)/i },
  {
    kind: 'answerTooLarge',
    pattern: /response (is )?too (large|big)|response size (should not|exceed|limit)/i
  },
  { kind: 'missingData', pattern: /(header|block|header for hash|body) (was |is )?not found|unknown block/i },
  { kind: 'missingData', pattern: /missing trie node|could not find block|request beyond head block/i },
  {
    kind: 'missingData',
    pattern: /pruned|state pruning|state (already )?(is )?(not available|unavailable|discarded)/i
  },
  { kind: 'missingData', pattern: /(archive|historical) state|no state available|maximum proof window/i },
  { kind: 'missingData', pattern: /BlockOutOfRange|invalid block tag|after last accepted block/i },
  { kind: 'missingData', pattern: /(?:)/, codes: [4444] }
]

/**
 * Reads what the error of an EVM node asks for.
 * @returns `undefined` for a plain error of the call itself. A revert always is one, whatever its reason says: a contract
 *   chooses that reason.
 */
export function readNodeMessage(code: number, message: string, data?: unknown): NodeMessageKind | undefined {
  if (isRevert(code, message, data)) return undefined
  // "safe" and "finalized" that a young chain does not have are no sign of a lagging node.
  if (/^(pending|safe|finalized) block/i.test(message)) return undefined
  // -32005 is "limit exceeded" (EIP-1474): without another word, the limit is one of calls.
  if (code === -32005 && /^limit exceeded$/i.test(message)) return 'throttled'
  return evmRules.find(({ pattern, codes }) => (codes?.includes(code) ?? true) && pattern.test(message))?.kind
}

function isRevert(code: number, message: string, data: unknown): boolean {
  return code === 3 || /revert/i.test(message) || (typeof data === 'string' && /^0x[0-9a-f]*$/i.test(data))
}

/** Reports whether the words are about the batch as such; for an error that all calls of a batch got, whatever its code. */
export function speaksOfBatch(message: string): boolean {
  return evmRules.some(({ kind, pattern }) => kind === 'batchRefused' && pattern.test(message))
}

/** Returns what an error of an EVM node asks for, as its channel has noted it; absent for a plain error of the call. */
export function messageKindOf(error: NodeRpcError): NodeMessageKind | undefined {
  return error.context.nodeMessage as NodeMessageKind | undefined
}

/** Reports whether an answer was larger than the node gives or than is read; fewer calls at a time may fit. */
export function isAnswerTooLarge(error: unknown): boolean {
  if (error instanceof UpstreamError) return error.fault === 'tooLarge'
  return error instanceof NodeRpcError && messageKindOf(error) === 'answerTooLarge'
}

const methodNotFound = -32601

/**
 * Reports whether the node said that it has no such method. Nodes use -32601 (JSON-RPC), -32004 (EIP-1474) or -32700, or
 * another code with a message that says so.
 */
export function isMethodMissing(error: unknown): boolean {
  if (!(error instanceof NodeRpcError)) return false
  if ([methodNotFound, -32004, -32700].includes(error.rpcCode)) return true
  return /method.*(not (found|supported|available|allowed|exist|enabled|whitelisted|implemented)|unsupported|disabled)|unsupported method|unknown method/i.test(
    error.message
  )
}

/** The `error` member of a Solana node's answer. */
export interface SolanaNodeError {
  readonly code: number
  readonly data?: unknown
}

/** The params are right, so it is this node that does not take them: an option that it lacks, an old version. */
const invalidParams = -32602
/** The operator has left this key out of the node's account indexes. */
const keyExcluded = -32010
const unhealthy = -32005
const minContextSlotNotReached = -32016
/** 429 in the body is what public endpoints write, -32429 what some hosts do. */
const throttledCodes = [429, -32429]
/**
 * Conditions of one node that pass: broken inside; a block not there, its slot skipped, or its status not known yet;
 * a scan that was overtaken; the long-term storage out of reach.
 */
const passingCodes = [-32603, -32004, -32007, -32009, -32012, -32014, -32019]
/** Errors that a node means, even where its HTTP status says that it is broken. */
const meantCodes = [methodNotFound, invalidParams, keyExcluded]

/**
 * Reads the error of a Solana node: {@link UpstreamError} where the same node may answer in a moment,
 * {@link NodeRpcError} where it will not. The node's own words may quote its URL or the request, so only the code is
 * passed on.
 *
 * @see the custom error codes of agave's `rpc-client-api`
 */
export function readSolanaError(
  upstreamName: string,
  method: string,
  { code, data }: SolanaNodeError,
  { status, retryAfterMs }: { readonly status: number; readonly retryAfterMs?: number }
): UpstreamError | NodeRpcError {
  const fail = (what: string, fault: UpstreamError['fault']) =>
    new UpstreamError(`${upstreamName} ${what}`, fault, retryAfterMs === undefined ? {} : { retryAfterMs })
  if (throttledCodes.includes(code)) return fail(`limits the rate of calls (error ${code})`, 'throttled')
  if (code === unhealthy || code === minContextSlotNotReached) {
    const slots = slotsBehind(data)
    const how = slots === undefined ? 'is behind or unwell' : `is ${plural(slots, 'slot')} behind`
    return fail(`${how} (error ${code})`, 'behind')
  }
  if (passingCodes.includes(code)) return fail(`cannot answer ${method} now (error ${code})`, 'behind')
  if (status >= 500 && !meantCodes.includes(code)) {
    return fail(`is broken (HTTP ${status}, error ${code})`, 'unreachable')
  }
  return new NodeRpcError(`${upstreamName} ${refusalOf(code, method)}`, code, undefined)
}

function refusalOf(code: number, method: string): string {
  if (code === methodNotFound) return `does not serve ${method} (error ${code})`
  if (code === keyExcluded) return `keeps no index of this key for ${method} (error ${code})`
  return `answered error ${code}`
}

function slotsBehind(data: unknown): number | undefined {
  if (typeof data !== 'object' || data === null || !('numSlotsBehind' in data)) return undefined
  const slots = data.numSlotsBehind
  return typeof slots === 'number' && Number.isSafeInteger(slots) && slots > 0 ? slots : undefined
}
