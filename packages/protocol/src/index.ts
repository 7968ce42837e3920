/**
 * What client and server agree on: types, errors, limits and names, generated from the OpenRPC document. Pure, without
 * dependencies.
 *
 * @packageDocumentation
 */
export { createErrorObject } from './createErrorObject.ts'
export { createEventReader, type ServerSentEvent } from './createEventReader.ts'
export { type ErrorDataOf, errors, retryableCodes, retryableReasons } from './generated/errors.gen.ts'
export { isConfirmed, isPending } from './generated/guards.gen.ts'
export {
  defaultMethodPrefix,
  endpoints,
  limits,
  type Methods,
  methodFacts,
  serviceVersion,
  transport
} from './generated/methods.gen.ts'
export type * from './generated/types.gen.ts'
export type {
  EndpointPath,
  ErrorReason,
  HandlerResult,
  MethodFacts,
  MethodHandlers,
  MethodName,
  MethodParams,
  MethodResult
} from './methodTypes.ts'
export { nearestName } from './nearestName.ts'
export { methodOfWireName, wireName } from './wireName.ts'
