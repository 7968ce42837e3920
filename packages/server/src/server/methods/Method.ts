import { type EndpointPath, type MethodName, methodFacts, wireName } from '@chain-data/protocol'
import { checkParams } from '@chain-data/protocol/validators'
import type { Handlers, MethodContext } from './MethodContext.ts'
import { mistake } from './mistake.ts'

/** A method that a server answers: one of the document, or one that a host brings. */
export interface Method {
  /** Name in logs, metrics and the status page; with the usual prefix, if it has one. */
  readonly name: string
  /** Name on the wire. */
  readonly wireName: string
  /** The paths that it is served on. */
  readonly endpoints: readonly EndpointPath[]
  /** Whether a call has to name a chain that the endpoint serves. */
  readonly needsChain: boolean
  /** Whether it answers with a stream of events. */
  readonly streams: boolean
  /**
   * Checks the params of a call.
   * @throws {Refusal} INVALID_PARAMS, with the path of what is wrong.
   */
  readParams(params: unknown): unknown
  /** Answers a call. @param params - as `readParams` returned them. */
  answer(params: unknown, context: MethodContext): unknown
  /** Its entry in the document that `rpc.discover` answers; absent: the one that the document has. */
  readonly description?: Readonly<Record<string, unknown>>
}

/** Makes methods of the document from their handlers; those without one are not served. */
export function specMethods(handlers: Partial<Handlers>, prefix: string): readonly Method[] {
  return (Object.keys(handlers) as (keyof Handlers)[]).map(name => {
    // The params were checked against this very method's schema, which the type system cannot follow.
    const handler = handlers[name] as (params: unknown, context: MethodContext) => unknown
    return specMethod(name, prefix, handler)
  })
}

/** Makes one method of the document. */
export function specMethod(name: MethodName, prefix: string, answer: Method['answer']): Method {
  const { endpoints, needsChain, streams } = methodFacts[name]
  return {
    ...{ name, wireName: wireName(name, prefix), endpoints, needsChain, streams, answer },
    readParams(params) {
      const wrong = checkParams(name, params)
      if (wrong) throw mistake('INVALID_PARAMS', wrong.path, wrong.message)
      return params
    }
  }
}

/** What a host says of a method of its own. */
export interface OwnMethod<Params> {
  /** On the wire, such as `acme_getFirstSeen`. */
  readonly name: string
  /** Default: `/evm-chain`. */
  readonly endpoint?: EndpointPath
  /** Whether a call has to name a chain that the endpoint serves; default: true. */
  readonly needsChain?: boolean
  /**
   * Checks the params of a call, which may be any JSON.
   * @throws what {@link invalidParams} makes.
   */
  readParams(params: unknown): Params
  /**
   * Answers a call with what becomes its `result`: any JSON; a bigint is written as a number with all its digits.
   * @throws what {@link invalidParams} makes; any other error is answered as INTERNAL, and logged.
   */
  answer(params: Params, context: MethodContext): Promise<unknown>
  /** Its OpenRPC method object without the name, for `rpc.discover`. Absent: the document does not mention it. */
  readonly description?: Readonly<Record<string, unknown>>
}

/** Makes a method of a host's own, which a feature can add to a server. */
export function defineMethod<Params>(own: OwnMethod<Params>): Method {
  const { name, endpoint = '/evm-chain', needsChain = true, description } = own
  return {
    ...{ name, wireName: name, endpoints: [endpoint], needsChain, streams: false },
    readParams: params => own.readParams(params),
    // They are those that `readParams` returned.
    answer: (params, context) => own.answer(params as Params, context),
    ...(description && { description: { ...description, name } })
  }
}

/**
 * Makes the refusal of a call whose params are wrong.
 *
 * @param path - JSON pointer into the request, such as `/params/0`.
 * @param problem - the rest of a sentence that begins with the path: `must be an address`.
 */
export function invalidParams(path: string, problem: string): Error {
  return mistake('INVALID_PARAMS', path, problem)
}
