/** What an error of a node asks for. */
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
 * The words of known nodes and providers, first match wins. Each is taken from public documentation, source or reports;
 * the test beside this file holds the full texts.
 */
const rules: readonly MessageRule[] = [
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
 * Reads what a node's error asks for.
 * @returns `undefined` for a plain error of the call itself. A revert always is one, whatever its reason says: anybody can
 *   write that reason.
 */
export function readNodeMessage(code: number, message: string, data?: unknown): NodeMessageKind | undefined {
  if (isRevert(code, message, data)) return undefined
  // "safe" and "finalized" that a young chain does not have are no sign of a lagging node.
  if (/^(pending|safe|finalized) block/i.test(message)) return undefined
  // -32005 is "limit exceeded" (EIP-1474): without another word, the limit is one of calls.
  if (code === -32005 && /^limit exceeded$/i.test(message)) return 'throttled'
  return rules.find(({ pattern, codes }) => (codes?.includes(code) ?? true) && pattern.test(message))?.kind
}

function isRevert(code: number, message: string, data: unknown): boolean {
  return code === 3 || /revert/i.test(message) || (typeof data === 'string' && /^0x[0-9a-f]*$/i.test(data))
}

/** Whether the words speak of the batch as such; for answers that all of a batch's calls got, whatever their code. */
export function speaksOfBatch(message: string): boolean {
  return rules.some(({ kind, pattern }) => kind === 'batchRefused' && pattern.test(message))
}
