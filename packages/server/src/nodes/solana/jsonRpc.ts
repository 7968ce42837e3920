import { createYielder } from '../../platform/concurrency/pause.ts'
import { readSolanaError, type SolanaNodeError } from '../upstreams/errorWords.ts'
import type { UpstreamAnswer } from '../upstreams/httpUpstream.ts'
import { faultOfStatus, UpstreamError } from '../upstreams/upstreamError.ts'
import { type Extent, findMembers, JsonRefusal, type JsonText, skipSpace } from './jsonExtents.ts'

/** The result of one call, still as text: where it stands in the whole answer. */
export interface NodeResult extends JsonText {
  readonly result: Extent
}

/** Marks searched before other work gets a turn: some 2 ms. */
const MARKS_PER_TURN = 20_000

/** A call as it is sent: `body` is its JSON, which holds `id` and `method`. */
export interface WordedCall {
  readonly id: string
  readonly method: string
  readonly body: string
}

export function wordCall(method: string, params: unknown): WordedCall {
  const id = crypto.randomUUID()
  return { id, method, body: JSON.stringify({ jsonrpc: '2.0', id, method, params }) }
}

/**
 * Sends one call to one node, once, and checks the envelope of its answer.
 *
 * @throws {UpstreamError} no answer, no JSON-RPC, the answer to another call, or an error that may pass.
 * @throws {NodeRpcError} an error that this node will answer again.
 */
export async function exchange(
  upstream: { readonly name: string; post(body: string, signal: AbortSignal): Promise<UpstreamAnswer> },
  { id, method, body }: WordedCall,
  signal: AbortSignal
): Promise<NodeResult> {
  const { name } = upstream
  const { body: pieces, ...reply } = await upstream.post(body, signal)
  const { status, retryAfterMs } = reply
  const text = Buffer.concat(pieces).toString()
  const answer = { text, checkYield: createYielder(MARKS_PER_TURN, 0) }
  const noJsonRpc = () =>
    new UpstreamError(`${name} answered no JSON-RPC (HTTP ${status})`, faultOfStatus(status), {
      httpStatus: status,
      ...(retryAfterMs === undefined ? {} : { retryAfterMs })
    })
  try {
    const members = await findEnvelope(answer)
    const read = (member: string): unknown => parseMember(text, members.get(member))
    if (read('jsonrpc') !== '2.0') throw noJsonRpc()
    const error = read('error')
    const result = members.get('result')
    // Some nodes write a null beside the one of the two that counts.
    const hasResult = result !== undefined && !(error !== undefined && isNull(text, result))
    if (error !== undefined && error !== null) {
      // An error that came before the call was read has no id, so an error's id is not checked.
      if (hasResult || !isNodeError(error)) throw noJsonRpc()
      throw readSolanaError(name, method, error, reply)
    }
    if (!hasResult || status !== 200) throw noJsonRpc()
    if (read('id') !== id) throw new UpstreamError(`${name} answered another call`, 'malformed')
    return { ...answer, result }
  } catch (failure) {
    throw failure instanceof JsonRefusal || failure instanceof SyntaxError ? noJsonRpc() : failure
  }
}

/** Finds the members of the one object that the text has to be. */
async function findEnvelope(answer: JsonText): Promise<ReadonlyMap<string, Extent>> {
  const { members, end } = await findMembers(answer, skipSpace(answer.text, 0))
  if (skipSpace(answer.text, end) < answer.text.length) throw new JsonRefusal('the end', end)
  return members
}

function parseMember(text: string, extent: Extent | undefined): unknown {
  return extent && JSON.parse(text.slice(extent.start, extent.end))
}

function isNull(text: string, { start, end }: Extent): boolean {
  return end - start === 4 && text.startsWith('null', start)
}

function isNodeError(value: unknown): value is SolanaNodeError {
  return typeof value === 'object' && value !== null && 'code' in value && Number.isInteger(value.code)
}
