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
}

/** Outcome of one entry of a batch; entries fail alone. */
export type NodeOutcome =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly error: Error }
