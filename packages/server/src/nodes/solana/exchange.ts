import { type HttpUpstream, UpstreamError, type UpstreamFault } from '../upstreams/httpUpstream.ts'
import { createCountedTurns } from './createCountedTurns.ts'
import { type Extent, findMembers, JsonRefusal, type JsonText, skipSpace } from './jsonExtents.ts'
import { describeNodeError, type NodeError } from './nodeErrors.ts'

/** The result of one call, still as text: where it stands in the whole answer. */
export interface NodeResult extends JsonText {
  readonly result: Extent
}

/** Marks looked at before other work gets a turn: some 2 ms of searching. */
const MARKS_PER_TURN = 20_000

/** One call, worded: `body` is the JSON that is sent and holds `id` and `method`. */
export interface NodeCall {
  readonly id: string
  readonly method: string
  readonly body: string
}

export function wordCall(method: string, params: unknown): NodeCall {
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
  upstream: HttpUpstream,
  { id, method, body }: NodeCall,
  signal: AbortSignal
): Promise<NodeResult> {
  const { body: bytes, ...reply } = await upstream.post(body, signal)
  const text = bytes.toString('utf8')
  const { status } = reply
  const answer = { text, turns: createCountedTurns(MARKS_PER_TURN) }
  const noJsonRpc = () =>
    new UpstreamError(`${upstream.name} answered no JSON-RPC (HTTP ${status})`, faultOf(status), {
      httpStatus: status
    })
  try {
    const members = await findEnvelope(answer)
    const read = (name: string): unknown => parseMember(text, members.get(name))
    if (read('jsonrpc') !== '2.0') throw noJsonRpc()
    const error = read('error')
    const result = members.get('result')
    // Some nodes write a null beside the one of the two that counts.
    const hasResult = result !== undefined && !(error !== undefined && isNull(text, result))
    if (error !== undefined && error !== null) {
      // An error that came before the call was read has no id, so an error's id is not looked at.
      if (hasResult || !isNodeError(error)) throw noJsonRpc()
      throw describeNodeError(upstream.name, method, error, reply)
    }
    if (!hasResult || status !== 200) throw noJsonRpc()
    if (read('id') !== id) throw new UpstreamError(`${upstream.name} answered another call`, 'malformed')
    return { ...answer, result }
  } catch (failure) {
    throw failure instanceof JsonRefusal || failure instanceof SyntaxError ? noJsonRpc() : failure
  }
}

/** The members of the one object that the text has to be. */
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

function isNodeError(value: unknown): value is NodeError {
  return typeof value === 'object' && value !== null && 'code' in value && Number.isInteger(value.code)
}

/** A proxy got tired of an idle connection, or of the node. */
const REQUEST_TIMEOUT = 408

/** A refused call is of no use again; a broken server or a page in place of an answer may be gone in a moment. */
function faultOf(status: number): UpstreamFault {
  if (status >= 500 || status === REQUEST_TIMEOUT) return 'unreachable'
  return status >= 300 ? 'refused' : 'malformed'
}
