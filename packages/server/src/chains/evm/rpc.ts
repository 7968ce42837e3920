/** One JSON-RPC call to a chain node. `method` keeps the node's name. */
export interface NodeCall {
  readonly method: string
  readonly params: readonly unknown[]
}

export interface NodeCallOptions {
  readonly signal?: AbortSignal
  /** Bound on the whole exchange, retries included. */
  readonly timeoutMs?: number
}

/** Outcome of one entry of a batch; entries fail alone. */
export type NodeOutcome =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly error: Error }

/**
 * Plain JSON-RPC to one EVM chain over all of its `rpcUrls`. Answers are raw JSON: nothing is parsed into a
 * library's idea of a block, because real chains do not fit one.
 */
export interface EvmRpc {
  /**
   * @throws {NodeRpcError} the node answered an error.
   * @throws {NodeUnavailableError} no upstream answered in time.
   */
  request(call: NodeCall, options?: NodeCallOptions): Promise<unknown>
  /**
   * Sends the calls as JSON-RPC batches of bounded size, all to the same upstream, matched by id.
   * @throws {NodeUnavailableError} no upstream answered in time.
   */
  batch(calls: readonly NodeCall[], options?: NodeCallOptions): Promise<readonly NodeOutcome[]>
  close(): void
}
