import { ChainDataError } from '@chain-data/index'
import {
  ConfigError,
  NodeContradictionError,
  NodeRpcError,
  NodeUnavailableError
} from '../../platform/errors.ts'
import { scrubText } from '../../platform/scrubText.ts'
import { nextStepFor } from './nextSteps.ts'

/** Names what went wrong with one exchange; decides how it may be retried. */
export type UpstreamFault =
  /** No connection, a reset, a 5xx: the same call may go through in a moment. */
  | 'unreachable'
  /** No whole answer in the time that this exchange had. */
  | 'timedOut'
  /** It cannot answer yet, or answered from an older state than was asked for. */
  | 'behind'
  /** Never sent: its permits were all in use until the time was up, or the process has no file descriptor left. */
  | 'busy'
  /** 429, or an error that says the same: wait, at least `retryAfterMs` where it is given. */
  | 'throttled'
  /** The quota of a day or month is used up. */
  | 'exhausted'
  /** Another 4xx, a redirect: repeating the call here is pointless. */
  | 'refused'
  /** The answer exceeds `maxResponseBytes`. */
  | 'tooLarge'
  /** Not JSON, or not JSON-RPC. */
  | 'malformed'

/**
 * Reports one failed exchange with one upstream. It never leaves the pool's callers: the pool turns the last of them into a
 * plain {@link NodeUnavailableError}.
 */
export class UpstreamError extends NodeUnavailableError {
  readonly fault: UpstreamFault
  readonly httpStatus: number | undefined
  readonly retryAfterMs: number | undefined

  constructor(
    message: string,
    fault: UpstreamFault,
    details: {
      readonly httpStatus?: number
      readonly retryAfterMs?: number
      readonly systemCode?: string
    } = {}
  ) {
    super(message, { fault, ...details })
    this.fault = fault
    this.httpStatus = details.httpStatus
    this.retryAfterMs = details.retryAfterMs
  }
}

/**
 * Lists how an attempt can fail, the most telling kind first: an answer of one upstream tells more than the silence of
 * another.
 */
export const failureKinds = ['unsound', 'absent', 'unavailable', 'failed', 'refused', 'wrongChain'] as const
export type FailureKind = (typeof failureKinds)[number]

/** Sorts the errors that a node answered: whether they are the answer, and what they are worth beside other failures. */
export type ErrorJudge = (error: NodeRpcError | NodeContradictionError) => FailureKind | 'final'

/** The reason of a signal whose own attempt took too long; the deadline of a caller has another. */
export class AttemptTimeout extends Error {}

/** A proxy got tired of an idle connection, or of the node. */
const requestTimeout = 408

/** Returns the fault of an HTTP answer that is no JSON-RPC. A broken server, or a page in place of an answer, may be gone in a moment. */
export function faultOfStatus(status: number): UpstreamFault {
  if (status === 402) return 'exhausted'
  if (status >= 500 || status === requestTimeout) return 'unreachable'
  return status >= 300 ? 'refused' : 'malformed'
}

const maxTextLength = 200

/**
 * Words a failed call to a single node for an operator, who sees beside it which node is meant.
 *
 * @param error - a failure of a pool with one upstream; anything else is a bug and thrown on.
 */
export function describeNodeFailure(error: unknown): { readonly found: string; readonly advice: string } {
  if (!(error instanceof ChainDataError)) throw error
  // A single node is asked, so its position among others says nothing.
  const text = error.message.replace(/^chain \d+: (identity: )?/, '').replaceAll('upstream 1', 'it')
  return { found: scrubText(text, maxTextLength), advice: adviceOn(error) }
}

function adviceOn(error: ChainDataError): string {
  if (error instanceof ConfigError) return 'take it out, or mend chainId or the URL'
  if (error instanceof NodeRpcError) return 'ask its provider for the method, or take another node'
  if (error instanceof NodeContradictionError) return 'do not trust it: take another node'
  return nextStepFor(error) ?? 'look at its log'
}
