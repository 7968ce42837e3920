import { ChainDataError } from '@chain-data/index'
import type { ErrorDataOf, ErrorReason } from '@chain-data/protocol'

/** The data that a case carries besides its reason; `extraMessage` is the error's message. */
export type RefusalData<R extends ErrorReason> = Omit<ErrorDataOf[R], 'reason' | 'extraMessage'>

/**
 * An answer of the contract's error table that is no failure of ours or of a node: the request asks for something
 * wrong, too much, or too early. The message goes to the caller, so it holds no secret and little of the input.
 */
export class Refusal<R extends ErrorReason = ErrorReason> extends ChainDataError {
  readonly retryable = false
  readonly reason: R
  readonly data: RefusalData<R>

  constructor(reason: R, message: string, data: RefusalData<R>) {
    super(message)
    this.reason = reason
    this.data = data
  }
}
