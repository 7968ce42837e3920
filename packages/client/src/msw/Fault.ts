import { type ErrorDataOf, type ErrorReason, errors } from '@chain-data/protocol'

/** A way of answering with well-formed HTTP and broken JSON-RPC, all with status 200. */
export type Malformation =
  /** An HTML page, as a captive portal or a proxy sends it. */
  | 'html'
  /** No body at all. */
  | 'empty'
  /** The right answer, cut off in the middle. */
  | 'truncated'
  /** The right answer under an id that nobody sent. */
  | 'wrongId'
  /** `jsonrpc` is `"1.0"`. */
  | 'wrongVersion'
  /** Both `result` and `error`. */
  | 'resultAndError'
  /** Neither `result` nor `error`. */
  | 'noResult'
  /** An array for a single request, the first answer alone for a batch. */
  | 'wrongShape'
  /** A batch without its last answer; for a single request an empty array. */
  | 'missingEntry'
  /** A batch in reverse order. Not wrong: answers belong to requests by id, never by position. */
  | 'reversed'

/** The `error.data` of a case, without its reason; what is left out comes from the document's example. */
export type FaultData<R extends ErrorReason> = Partial<Omit<ErrorDataOf[R], 'reason'>>

type FaultKind =
  | { readonly kind: 'rpc'; readonly reason: ErrorReason; readonly data: object }
  | {
      readonly kind: 'http'
      readonly status: number
      readonly headers: Readonly<Record<string, string>>
      readonly body: string
    }
  | { readonly kind: 'network' }
  | { readonly kind: 'malformed'; readonly malformation: Malformation }
  | { readonly kind: 'delay'; readonly delayMs: number; readonly then: Fault | undefined }

// Registered, so that a fault made by the CommonJS copy of this entry is known to the ESM copy.
const brand = Symbol.for('@chain-data/client/msw/fault')

/** Something to answer with in place of a result. Made by the `...Fault` functions, never by hand. */
export type Fault = FaultKind & { readonly fault: true }

function createFault(fault: FaultKind): Fault {
  return Object.freeze(Object.defineProperty({ ...fault, fault: true as const }, brand, { value: true }))
}

/** Whether a value was made by one of the `...Fault` functions, by whichever copy of this entry. */
export function isFault(value: unknown): value is Fault {
  return typeof value === 'object' && value !== null && brand in value
}

/**
 * A case of the document's error table, with its code, message and HTTP status.
 *
 * Cases with an HTTP status of their own (401, 403, 404, 405, 413, 415, 503) answer the whole exchange, with
 * `id: null` and the headers that belong to them. `RATE_LIMITED` is 429 with `Retry-After` for a single request
 * and an entry like any other inside a batch.
 *
 * @param data - Replaces members of the example's `error.data`, such as `retryAfterMs` or `extraMessage`.
 * @throws {TypeError} The reason is not in the table.
 */
export function rpcFault<R extends ErrorReason>(reason: R, data: FaultData<R> = {}): Fault {
  if (!Object.hasOwn(errors, reason)) {
    throw new TypeError(`rpcFault: ${JSON.stringify(reason)} is not a reason of the error table`)
  }
  return createFault({ kind: 'rpc', reason, data })
}

/**
 * An HTTP answer of something that does not speak JSON-RPC, such as a proxy's 502.
 *
 * @param status - 200 to 599.
 * @param init - `body` is a text, empty by default; `headers` such as `Retry-After` or `Location`.
 * @throws {RangeError} The status is none.
 */
export function httpFault(
  status: number,
  init: { readonly body?: string; readonly headers?: Readonly<Record<string, string>> } = {}
): Fault {
  if (!Number.isInteger(status) || status < 200 || status > 599) {
    throw new RangeError(`httpFault: status must be an integer from 200 to 599, not ${String(status)}`)
  }
  return createFault({ kind: 'http', status, body: init.body ?? '', headers: init.headers ?? {} })
}

/** No HTTP answer: the connection fails. */
export function networkFault(): Fault {
  return createFault({ kind: 'network' })
}

/** Status 200 and a body that is no answer to the request. */
export function malformedFault(malformation: Malformation): Fault {
  return createFault({ kind: 'malformed', malformation })
}

/**
 * An answer that takes its time.
 *
 * @param delayMs - Milliseconds; `Infinity` for an answer that never comes. Keeps no timer then.
 * @param then - The fault afterwards. Absent: what would be answered without this one.
 * @throws {RangeError} The delay is negative or no number.
 */
export function delayFault(delayMs: number, then?: Fault): Fault {
  if (!(delayMs >= 0)) {
    throw new RangeError(`delayFault: delayMs must be a number from 0, not ${String(delayMs)}`)
  }
  return createFault({ kind: 'delay', delayMs, then })
}
