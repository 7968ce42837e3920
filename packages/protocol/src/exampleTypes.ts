import type { RpcFailure } from './generated/types.gen.ts'
import type { EndpointPath, ErrorReason, MethodName, MethodParams, MethodResult } from './methodTypes.ts'

/** One call with its result. */
export interface MethodExample<M extends MethodName> {
  /** What the call shows. */
  readonly name: string
  /** `chainId` of the request. */
  readonly chainId: number
  /** The endpoint it is sent to. */
  readonly endpoint: EndpointPath
  /** By position. */
  readonly params: MethodParams<M>
  /** `result` of the answer. */
  readonly result: MethodResult<M>
  /** Of a stream, the `id` of each event of `result`. */
  readonly cursors?: readonly string[]
}

/** The examples of every method; each method has at least one. */
export type MethodExamples = { readonly [M in MethodName]: readonly MethodExample<M>[] }

/** One answer per error case. */
export type ErrorExamples = { readonly [R in ErrorReason]: RpcFailure }
