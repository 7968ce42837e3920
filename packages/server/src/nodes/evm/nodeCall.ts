import type { Clock } from '../../platform/clock.ts'
import type { UpstreamAnswer } from '../upstreams/httpUpstream.ts'

/** One JSON-RPC call to a chain node. `method` keeps the node's name. */
export interface NodeCall {
  readonly method: string
  readonly params: readonly unknown[]
}

export interface NodeCallOptions {
  /** Aborting rejects the call with the signal's reason. */
  readonly signal?: AbortSignal
  /** Bound on the whole exchange, retries included. */
  readonly timeoutMs?: number
  /**
   * The block that the call is about: an upstream that has not shown this height is asked only when no other has. Absent:
   * taken from the params where they name a height.
   */
  readonly height?: number
  /** Any node that has room may do it, see `Work`. */
  readonly isShared?: boolean
  /**
   * Reads the answer (the outcomes of a batch); what it returns is returned. A NodeContradictionError from it counts as
   * the fault of `node`, and another one is asked.
   */
  readonly read?: (value: unknown, node: EvmNode) => unknown
}

/** Outcome of one entry of a batch; entries fail alone. */
export type NodeOutcome =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly error: Error }

/** Returns the quantity that an entry of a batch answered, of at most 256 bits; `undefined` for an error and anything else. */
export function quantityIn(outcome: NodeOutcome | undefined): bigint | undefined {
  const value = outcome?.ok ? outcome.value : undefined
  return typeof value === 'string' && /^0x[0-9a-f]{1,64}$/i.test(value) ? BigInt(value) : undefined
}

/** The answer to a batch, as the node sent it. */
export interface PostedBatch {
  /** JSON-RPC ids of the calls, in their order. */
  readonly ids: readonly number[]
  readonly answer: UpstreamAnswer
}

/** One upstream, for the length of one piece of work. */
export interface EvmNode {
  /** `upstream 1`: the position in `rpcUrls`. */
  readonly name: string
  /** That position, counted from 1. */
  readonly position: number
  /**
   * @param onSize - gets the size in bytes of an answer that is no error.
   * @throws {NodeRpcError} the node answered an error.
   * @throws {UpstreamError} it did not answer, or asked to come back later.
   */
  request(call: NodeCall, onSize?: (bytes: number) => void): Promise<unknown>
  /**
   * @param known - outcomes of an earlier attempt at the same node that broke off; only its gaps are asked for, and filled.
   * @param onSize - gets the size in bytes of each HTTP answer.
   * @param posted - what `post` returned for these calls; only what is missing there is asked for.
   * @returns one outcome per call, in order.
   * @throws {UpstreamError} like `request`; what has been answered by then stays in `known`.
   */
  batch(
    calls: readonly NodeCall[],
    known?: (NodeOutcome | undefined)[],
    onSize?: (bytes: number) => void,
    posted?: PostedBatch
  ): Promise<readonly NodeOutcome[]>
  /**
   * Sends the calls as one batch and leaves the answer unread, for another thread to read.
   * @param onSize - gets its size in bytes.
   * @returns `undefined` where the node takes fewer calls in one request.
   * @throws {UpstreamError} like `request`.
   */
  post(calls: readonly NodeCall[], onSize?: (bytes: number) => void): Promise<PostedBatch | undefined>
  /** Runs `ask` unless this node lacks `method`; `undefined` when it does. */
  attempt<T>(method: string, ask: () => Promise<T>): Promise<T | undefined>
  /** Takes this node out of service for a while, unless it is the last one: it named a block that the others do not have. */
  putAside(problem: string): void
  /**
   * Asks the same node with less time.
   * @returns `undefined` when that time was up before `ask` was done. It is not held against the node: what it was asked
   *   for may take as long anywhere.
   */
  within<T>(timeoutMs: number, ask: (node: EvmNode) => Promise<T>): Promise<T | undefined>
  /** Returns what the caller keeps about this upstream; made by `create` at the first use, one for each function. */
  memory<T>(create: (clock: Clock) => T): T
}

/** Methods whose null says "I do not have it", which another node may. */
const nullMeansAbsent = new Set([
  'eth_getBlockByNumber',
  'eth_getBlockByHash',
  'eth_getBlockReceipts',
  'eth_getTransactionByHash',
  'eth_getTransactionReceipt'
])

export function isAbsentAnswer({ method }: NodeCall, value: unknown): boolean {
  return value === null && nullMeansAbsent.has(method)
}

/** The position of each method's block parameter. */
const blockParameter: Readonly<Record<string, number>> = {
  eth_getBlockByNumber: 0,
  eth_getBlockReceipts: 0,
  eth_getBalance: 1,
  eth_call: 1,
  eth_getCode: 1,
  eth_getTransactionCount: 1
}

/** The highest height that the calls name; absent when they name tags or hashes only. */
export function heightOf(calls: readonly NodeCall[]): number | undefined {
  let highest: number | undefined
  for (const { method, params } of calls) {
    const value = params[blockParameter[method] ?? -1]
    if (typeof value !== 'string' || !/^0x[0-9a-f]{1,13}$/i.test(value)) continue
    highest = Math.max(highest ?? 0, Number(value))
  }
  return highest
}
