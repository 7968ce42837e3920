import {
  isAbsent,
  type RawObject,
  readAddress,
  readHash,
  readList,
  readObject,
  readOptionalQuantity
} from '../../../nodes/evm/rawFields.ts'
import { NodeRpcError } from '../../../platform/errors.ts'
import { plural } from '../../../platform/plural.ts'
import { contradiction } from '../verification/contradiction.ts'
import { deepestFrame, type Frame, isEmptyCode, quote, stepNamed, type TraceableBlock } from './frames.ts'

/**
 * Reads an answer to `debug_traceBlockByHash` with the `callTracer`: for each transaction, in block order, the tree of its
 * calls. The hash asked for binds it to the block; where an entry names its transaction, that must be the one.
 *
 * @returns the steps of each transaction, each beginning with the transaction itself.
 * @throws {NodeContradictionError} naming the block, the transaction and the disagreement.
 * @throws {NodeRpcError} the node has another tracer only, as if it had no such method (-32601).
 * @see https://geth.ethereum.org/docs/developers/evm-tracing/built-in-tracers
 */
export function readCallTracer(
  raw: unknown,
  { ref, transactions }: TraceableBlock
): readonly (readonly Frame[])[] {
  const entries = readList(raw, `block ${ref.number}: traces`)
  if (entries.length !== transactions.length) {
    const text = `traces of ${plural(entries.length, 'transaction')}, but it has ${transactions.length}`
    throw contradiction(ref.number, text)
  }
  return transactions.map(({ hash }, i) => {
    const where = `block ${ref.number}: the trace of ${hash}`
    const { txHash, result, error } = readObject(entries[i], where)
    if (!isAbsent(txHash) && readHash(txHash, `${where}: txHash`) !== hash) {
      throw contradiction(ref.number, `${where} is of ${txHash}`)
    }
    if (isAbsent(result))
      throw contradiction(ref.number, `${where} was not made: ${String(error).slice(0, 200)}`)
    const root = readObject(result, where)
    // Some nodes ignore the name of the tracer and answer with single instructions.
    if ('structLogs' in root) {
      throw new NodeRpcError('debug_traceBlockByHash: the node has no callTracer', -32601, undefined)
    }
    return flatten(root, where, ref.number)
  })
}

/** Lists the steps in the order of execution. Not recursive, since the node decides how deep the tree is. */
function flatten(root: RawObject, where: string, blockNumber: number): readonly Frame[] {
  const frames: Frame[] = []
  const waiting: { readonly raw: RawObject; readonly depth: number }[] = [{ raw: root, depth: 0 }]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { raw, depth } = next
    if (depth > deepestFrame) throw contradiction(blockNumber, `${where} is nested too deep`)
    frames.push(readFrame(raw, depth, where, blockNumber))
    const inside = isAbsent(raw.calls) ? [] : readList(raw.calls, `${where}: calls`)
    for (let i = inside.length - 1; i >= 0; i--) {
      waiting.push({ raw: readObject(inside[i], `${where}: a step`), depth: depth + 1 })
    }
  }
  return frames
}

function readFrame(raw: RawObject, depth: number, where: string, blockNumber: number): Frame {
  const step = stepNamed(raw.type)
  if (step === undefined) {
    throw contradiction(
      blockNumber,
      `${where} has a step of type ${quote(raw.type)}; expected one of the EVM`
    )
  }
  const { kind, sends } = step
  const from = readAddress(raw.from, `${where}: from`)
  const value = (sends && readOptionalQuantity(raw.value, `${where}: value`)) || 0n
  // Some nodes name the contract that a failed creation would have made.
  if (kind === 'create' && !isAbsent(raw.error)) return { kind, depth, from, value, error: String(raw.error) }
  const to = readAddress(raw.to, `${where}: to`)
  if (kind === 'create') return { kind, depth, from, to, value, isEmpty: isEmptyCode(raw.output) }
  return { kind, depth, from, to, value, ...(!isAbsent(raw.error) && { error: String(raw.error) }) }
}
