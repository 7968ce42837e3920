import type { ErrorReason } from '@chain-data/protocol'

/** What an answer must be. */
export interface Expectation {
  readonly status: number
  /** Of an error; absent: a result. */
  readonly reason?: ErrorReason
  /** JSON text of the id, as it stands in the answer. */
  readonly id: string
  /** `error.data.path`. */
  readonly path?: string
  readonly chainId?: number
  /** The result is a history, which another method gives than the one that is counted. */
  readonly isHistory?: true
}

/** A status, and the answers of a batch in their order. */
interface BatchExpectation {
  readonly status: 200
  readonly entries: readonly Expectation[]
}

/** An answer without a body. */
interface EmptyExpectation {
  readonly status: number
  readonly empty: true
}

export type AnyExpectation = Expectation | BatchExpectation | EmptyExpectation

/** A request that is sound HTTP, so that both listeners must answer it alike. */
export interface CallCase {
  readonly name: string
  readonly body: string | Buffer
  /** Default POST. */
  readonly verb?: string
  /** Default `/evm-chain`. */
  readonly target?: string
  /** Beside or in place of the right ones; `null` leaves one out. */
  readonly headers?: Readonly<Record<string, string | null>>
  readonly expect: AnyExpectation
}

/** Bytes on a socket. */
export interface WireCase {
  readonly name: string
  readonly bytes: string
  /** One for each answer that comes; none: the connection is cut. */
  readonly expect: readonly AnyExpectation[]
  /** Whether the connection is good for another request. */
  readonly kept: boolean
}

/** A result. */
export function answered(id = '5', chainId?: number): Expectation {
  return { status: 200, id, ...(chainId === undefined ? {} : { chainId }) }
}

/** A JSON-RPC error with status 200. */
export function failed(reason: ErrorReason, id = '5', path?: string): Expectation {
  return { status: 200, reason, id, ...(path === undefined ? {} : { path }) }
}

/** A refusal of the transport. */
export function refused(status: number, reason: ErrorReason = 'INVALID_REQUEST'): Expectation {
  return { status, reason, id: 'null' }
}

const members = {
  jsonrpc: '"2.0"',
  id: '5',
  method: '"svc_getSyncStatus"',
  chainId: '1',
  params: '[]'
}

/** Text of a request. `change` replaces members by other JSON text, `null` leaves one out; `extra` is put at its end. */
export function call(change: Readonly<Record<string, string | null>> = {}, extra = ''): string {
  const all: Record<string, string | null> = { ...members, ...change }
  const texts = Object.entries(all).flatMap(([name, text]) => (text === null ? [] : [`"${name}":${text}`]))
  return `{${texts.join()}${extra}}`
}
