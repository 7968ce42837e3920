import { ChainDataError, type ErrorContext } from '@chain-data/index'

/** The configuration cannot be used; `message` names the key, the value and what was expected. */
export class ConfigError extends ChainDataError {
  readonly retryable = false
}

/** The chain's node did not answer, or not in time. */
export class NodeUnavailableError extends ChainDataError {
  readonly retryable = true
}

/** The node answered, and the answer contradicts itself or an earlier one. Never stored. */
export class NodeContradictionError extends ChainDataError {
  readonly retryable = true
}

/** The node answered a JSON-RPC error; `rpcCode` is its code. */
export class NodeRpcError extends ChainDataError {
  readonly retryable = false
  readonly rpcCode: number
  /** `error.data` as the node gave it (revert data, for example). */
  readonly rpcData: unknown

  constructor(message: string, rpcCode: number, rpcData: unknown, context: ErrorContext = {}) {
    super(message, context)
    this.rpcCode = rpcCode
    this.rpcData = rpcData
  }
}

/** An untrusted address may not or could not be fetched. Never fails a call: fields stay absent. */
export class MetadataError extends ChainDataError {
  readonly retryable = false
}
