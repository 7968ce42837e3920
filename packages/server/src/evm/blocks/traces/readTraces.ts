import type { AccountEvents, Address, InternalTransfer } from '@chain-data/index'
import type { EvmNode, NodeCall } from '../../../nodes/evm/nodeCall.ts'
import { isAbsent, readObject, toQuantity } from '../../../nodes/evm/rawFields.ts'
import { isMethodMissing, messageKindOf } from '../../../nodes/upstreams/errorWords.ts'
import { NodeRpcError } from '../../../platform/errors.ts'
import { contradiction } from '../verification/contradiction.ts'
import {
  type Frame,
  foldFrames,
  type InnerEffects,
  isEntangled,
  type TraceableBlock,
  type TraceableTransaction
} from './frames.ts'
import { readCallTracer } from './readCallTracer.ts'
import { type ListedTraces, readTraceBlock } from './readTraceBlock.ts'

/** Effects of a block that its verified traces show. */
export interface BlockTraces {
  /** For each transaction, in block order. */
  readonly internal: readonly (readonly InternalTransfer[])[]
  /** Each account once. */
  readonly events: readonly AccountEvents[]
}

/**
 * Reads the traces of a block from one node: by `trace_block`, which reports rewards too, else by `debug_traceBlockByHash`,
 * also where the former is entangled (`isEntangled`).
 *
 * @param reportBytes - gets the size of the answer in bytes.
 * @throws {NodeContradictionError} the traces are not of this block, contradict themselves or its transactions, or the node
 *   failed to make them; another node may succeed.
 * @throws {NodeRpcError} the node offers neither method (see `isMethodMissing`), or no longer has the state of that block.
 * @remarks One call; another one for a block in which contracts destroy themselves, and for each transaction that failed
 *   although its receipt does not say so.
 */
export async function readTraces(
  node: EvmNode,
  block: TraceableBlock,
  reportBytes?: ReportBytes
): Promise<BlockTraces> {
  const listed = await listTraces(node, block, reportBytes)
  if (listed === undefined) {
    throw new NodeRpcError(
      'the node offers neither trace_block nor debug_traceBlockByHash',
      -32601,
      undefined
    )
  }
  let effects = listed.frames.map(frames => foldFrames(frames, false))
  if (effects.some(({ endsOlder }) => endsOlder) && (await isBeforeCancun(node, block))) {
    effects = listed.frames.map(frames => foldFrames(frames, true))
  }
  return { internal: effects.map(({ internal }) => internal), events: collectEvents(effects, listed.rewards) }
}

type ReportBytes = (bytes: number) => void

/** Requests traces. @returns `undefined` where the node offers none. */
async function listTraces(
  node: EvmNode,
  block: TraceableBlock,
  reportBytes: ReportBytes | undefined
): Promise<ListedTraces | undefined> {
  const { number, hash } = block.ref
  const ask = async (call: NodeCall, read: (answer: unknown) => ListedTraces) => {
    const listed = await node.attempt(call.method, async () =>
      read(await request(node, call, number, reportBytes))
    )
    if (listed !== undefined) await verifyRoots(node, block, listed)
    return listed
  }
  const flat = await ask({ method: 'trace_block', params: [toQuantity(number)] }, answer =>
    readTraceBlock(answer, block)
  )
  // The other method reports no rewards, and an empty block has nothing else.
  if (block.transactions.length === 0) return flat
  if (flat !== undefined && !flat.frames.some(isEntangled)) return flat
  const call = { method: 'debug_traceBlockByHash', params: [hash, { tracer: 'callTracer' }] }
  const trees = await ask(call, answer => ({
    frames: readCallTracer(answer, block),
    rewards: flat?.rewards ?? new Map()
  }))
  if ((trees ?? flat)?.frames.some(isEntangled)) {
    throw contradiction(number, 'its traces tell steps of accounts that did not take them')
  }
  return trees
}

/** Turns a plain error of the node (its tracer ran out of time or memory) into a contradiction, which another node may answer. */
async function request(
  node: EvmNode,
  call: NodeCall,
  blockNumber: number,
  reportBytes: ReportBytes | undefined
) {
  try {
    return await node.request(call, reportBytes)
  } catch (error) {
    const isPlain =
      error instanceof NodeRpcError && !isMethodMissing(error) && messageKindOf(error) === undefined
    throw isPlain ? contradiction(blockNumber, `the node cannot trace it: ${error.message}`) : error
  }
}

async function verifyRoots(node: EvmNode, { ref, transactions }: TraceableBlock, { frames }: ListedTraces) {
  for (const [i, transaction] of transactions.entries()) {
    if (verifyRoot(frames[i]?.[0], transaction, ref.number)) continue
    // Before Byzantium receipts do not say whether a transaction failed, and success is assumed.
    const { hash, status } = transaction
    const isUnsaid = status === 3 && (await hasNoStatus(node, hash))
    if (!isUnsaid) {
      const said = status === 4 ? 'failed' : 'succeeded'
      throw contradiction(ref.number, `the trace of ${hash} does not end as its receipt says: it ${said}`)
    }
  }
}

/**
 * Checks that a trace belongs to this transaction: it begins with a call from the same sender to the same receiver, or with a
 * creation, and sends the same value.
 * @returns whether it ended as its receipt says.
 * @throws {NodeContradictionError} naming the transaction and the disagreement.
 */
function verifyRoot(
  root: Frame | undefined,
  { hash, from, to, value, status }: TraceableTransaction,
  blockNumber: number
): boolean {
  const where = `the trace of ${hash}`
  const differ = (what: string, traced: unknown, own: unknown) =>
    contradiction(blockNumber, `${where} has ${what} ${traced}, the transaction ${own}`)
  const kind = to === undefined ? 'create' : 'call'
  if (root?.kind !== kind) {
    throw contradiction(blockNumber, `${where} begins with a ${root?.kind}, not a ${kind}`)
  }
  if (root.from !== from) throw differ('from', root.from, from)
  if (to !== undefined && root.to !== to) throw differ('to', root.to, to)
  if (root.value !== value) throw differ('value', root.value, value)
  return status === undefined || (root.error !== undefined) === (status === 4)
}

async function hasNoStatus(node: EvmNode, hash: string): Promise<boolean> {
  const receipt = await node.request({ method: 'eth_getTransactionReceipt', params: [hash] })
  return receipt !== null && isAbsent(readObject(receipt, `receipt of ${hash}`).status)
}

/** Reports whether a block is older than Cancun, when any contract could destroy itself; newer headers have `excessBlobGas`. */
async function isBeforeCancun(node: EvmNode, { ref }: TraceableBlock): Promise<boolean> {
  const header = await node.request({ method: 'eth_getBlockByHash', params: [ref.hash, false] })
  if (header === null) throw contradiction(ref.number, 'the node that traced it does not have it')
  return isAbsent(readObject(header, `block ${ref.number}`).excessBlobGas)
}

/** Each account once. */
function collectEvents(
  effects: readonly InnerEffects[],
  rewards: ReadonlyMap<Address, bigint>
): readonly AccountEvents[] {
  const accounts = new Map<Address, { reward: bigint; burn: bigint; creations: number }>()
  const of = (account: Address) => {
    const known = accounts.get(account) ?? { reward: 0n, burn: 0n, creations: 0 }
    accounts.set(account, known)
    return known
  }
  for (const [account, amount] of rewards) of(account).reward += amount
  for (const { burnt, creations } of effects) {
    for (const [account, amount] of burnt) of(account).burn += amount
    for (const [account, count] of creations) of(account).creations += count
  }
  return Array.from(accounts, ([address, { reward, burn, creations }]) => ({
    address,
    events: [
      ...(reward > 0n ? [{ kind: 'reward', amount: reward } as const] : []),
      ...(burn > 0n ? [{ kind: 'burn', amount: burn } as const] : []),
      ...(creations > 0 ? [{ kind: 'creation', count: creations } as const] : [])
    ]
  })).filter(({ events }) => events.length > 0)
}
