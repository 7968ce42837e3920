import { type ErrorDataOf, errors } from './generated/errors.gen.ts'
import type { RpcErrorObject } from './generated/types.gen.ts'
import type { ErrorReason } from './methodTypes.ts'

/**
 * The error object of a case: code and message from the error table.
 *
 * @param data - What the case carries beside its reason; `extraMessage` is for people and must hold
 *   no secret, and at most `limits.inputEchoCharacters` of the caller's input.
 */
export function createErrorObject<R extends ErrorReason>(
  reason: R,
  data: Omit<ErrorDataOf[R], 'reason'> & { extraMessage: string }
): RpcErrorObject {
  const { code, message } = errors[reason]
  return { code, message, data: { reason, ...data } }
}
