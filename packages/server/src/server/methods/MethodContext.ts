import type { MethodHandlers } from '@chain-data/protocol'
import type { AnswerCoverage } from '../../model/coverage.ts'
import type { ResultStream } from './ResultStream.ts'

/** What a method knows of its call beside the params, which are already checked against the spec. */
export interface MethodContext {
  /** A chain that the called endpoint serves; absent only for methods that need none. */
  readonly chainId?: number
  /** Aborts when the caller is gone or the deadline has passed. */
  readonly signal: AbortSignal
  /** `Date.now()` at which the call gives up. */
  readonly deadlineMs: number
  /** Told what the answer covers, before its first byte; the response says it in a header. */
  readonly onCoverage?: (coverage: AnswerCoverage) => void
}

/** The server's implementation of every method of the spec. */
export type Handlers = MethodHandlers<MethodContext, ResultStream>
