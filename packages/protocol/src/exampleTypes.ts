import type { RpcFailure } from './generated/types.gen.ts'
import type { EndpointPath, ErrorReason, MethodName, MethodParams, MethodResult } from './methodTypes.ts'

/** One call with its result. */
export interface MethodExample<M extends MethodName> {
  readonly name: string
  readonly chainId: number
  readonly endpoint: EndpointPath
  readonly params: MethodParams<M>
  readonly result: MethodResult<M>
}

/** The examples of every method; each method has at least one. */
export type MethodExamples = { readonly [M in MethodName]: readonly MethodExample<M>[] }

/** One answer per error case. */
export type ErrorExamples = { readonly [R in ErrorReason]: RpcFailure }
