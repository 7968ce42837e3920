import { authorization } from '../http/startService.ts'
import { type AnyExpectation, call, type WireCase } from './AbuseCase.ts'

/** Parts of a request on a socket. */
export interface WireRequest {
  readonly verb?: string
  readonly target?: string
  /** In place of verb, target and version. */
  readonly line?: string
  /** `null`: none. */
  readonly host?: string | null
  /** Behind the usual ones, which are Content-Type and Authorization; whole lines, without their ends. */
  readonly lines?: readonly string[]
  /** Default: that of the body; `null`: none. */
  readonly length?: string | null
  readonly body?: string
}

/** The bytes of a request, as Latin-1. */
export function requestBytes(request: WireRequest): string {
  const { verb = 'POST', target = '/evm-chain', host = 'x', lines = [], body = call() } = request
  const { length = String(body.length) } = request
  const head = [
    request.line ?? `${verb} ${target} HTTP/1.1`,
    ...(host === null ? [] : [`Host: ${host}`]),
    'Content-Type: application/json',
    `Authorization: ${authorization}`,
    ...lines,
    ...(length === null ? [] : [`Content-Length: ${length}`])
  ]
  return `${head.join('\r\n')}\r\n\r\n${body}`
}

/** A chunk of a body. */
export function chunk(text: string): string {
  return `${text.length.toString(16)}\r\n${text}\r\n`
}

const closing = new Set([400, 408, 417, 431, 501, 505])

/** A case of one request. Whether its connection is kept follows from the status, unless said. */
export function wire(
  name: string,
  request: WireRequest,
  expect: readonly AnyExpectation[],
  kept = !expect.some(({ status }) => closing.has(status))
): WireCase {
  return { name, bytes: requestBytes(request), expect, kept }
}
