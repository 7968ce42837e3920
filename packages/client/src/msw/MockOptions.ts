import type { EndpointPath, HandlerResult, MethodName, MethodParams } from '@chain-data/protocol'
import type { Fault } from './Fault.ts'

/** One call that reached a handler. Its params fit the document's schema. */
export interface MockCall<M extends MethodName> {
  /** Its name in the document, whatever prefix the host has. */
  readonly method: M
  /** By position, as sent. */
  readonly params: MethodParams<M>
  /** The endpoint it was sent to. */
  readonly endpoint: EndpointPath
  /** Absent only where a method needs none and the caller named none. */
  readonly chainId: number | undefined
  /** As sent; 1 where the request had none. */
  readonly id: number | string
}

/** A result of the document's type, for tests: 64-bit integers may be `bigint`, 0x-hex any text. */
export type MockResult<M extends MethodName> = Loose<HandlerResult<M>>

type Loose<T> = T extends string
  ? string extends T
    ? T
    : T extends `0x${string}`
      ? string
      : T
  : T extends readonly (infer Item)[]
    ? Loose<Item>[]
    : T extends object
      ? { [Key in keyof T]: Loose<T[Key]> }
      : T

/** What a call is answered with. Events of a stream may come one by one; when all have come, the stream stays open. */
export type MockAnswer<M extends MethodName> =
  | MockResult<M>
  | (M extends 'svc_watchAddresses' ? AsyncIterable<MockResult<M>[number]> : never)
  | Fault

/** Decides the answer to one call; `undefined` leaves it to the document's examples. */
export type MockResolver<M extends MethodName> = (
  call: MockCall<M>
) => MockAnswer<M> | undefined | Promise<MockAnswer<M> | undefined>

/** Answers by method, under the names of the document. */
export type MockMethods = {
  /**
   * An answer, or a function that makes one. A list for `svc_getTransactionsByAddress` is the whole history:
   * `limit` and `before` cut pages from it. What a function returns is sent as it is. Of `svc_watchAddresses` the
   * answer is all events of the stream: one that is connected again gets those after its cursor.
   */
  readonly [M in MethodName]?: MockAnswer<M> | MockResolver<M>
}

/** One HTTP request that reached a handler. */
export interface MockExchange {
  /** The endpoint it was sent to. */
  readonly endpoint: EndpointPath
  /** How many requests these handlers have received, this one included. */
  readonly count: number
}

/** What {@link createHandlers} needs to know. */
export interface MockOptions {
  /** Address of the service as the client knows it, without `/evm-chain` or `/solana`. */
  readonly baseUrl: string
  /** What this host's method names begin with. Default `svc_`. */
  readonly methodPrefix?: string | undefined
  /** The only credentials that are let in; all others get 401. Absent: nobody is asked. */
  readonly credentials?: { readonly projectId: string; readonly key: string } | undefined
  /** The chains served; another one is UNSUPPORTED_CHAIN. Absent: any chain. */
  readonly chainIds?: Partial<Readonly<Record<EndpointPath, readonly number[]>>> | undefined
  /** Answers in place of the document's examples. */
  readonly methods?: MockMethods | undefined
  /** What meets a whole HTTP request before anything else; `undefined` lets it through. */
  readonly fault?: Fault | ((exchange: MockExchange) => Fault | undefined) | undefined
}
