import type { IncomingMessage } from 'node:http'
import { createErrorObject, type RpcErrorObject, transport } from '@chain-data/protocol'

/** An answer to what is broken as HTTP already. Each of them ends its connection. */
export interface SocketRefusal {
  readonly status: number
  readonly phrase: string
  readonly error: RpcErrorObject
  readonly headers?: Readonly<Record<string, string>>
}

/** All of them, by what is wrong. */
export const socketRefusals = {
  notHttp: invalid(400, 'Bad Request', 'The bytes are not an HTTP request.'),
  host: invalid(400, 'Bad Request', 'An HTTP request has one Host header, which names a host.'),
  target: invalid(400, 'Bad Request', 'The request target is a path, without fragment or credentials.'),
  framing: invalid(400, 'Bad Request', 'HTTP/1.0 has no Transfer-Encoding.'),
  coding: invalid(501, 'Not Implemented', 'The only Transfer-Encoding known is chunked.'),
  version: invalid(505, 'HTTP Version Not Supported', 'Send the request with HTTP/1.1.'),
  expectation: invalid(417, 'Expectation Failed', 'The only Expect header known is 100-continue.'),
  headTooLarge: invalid(431, 'Request Header Fields Too Large', 'The request head is too large.'),
  tooSlow: invalid(408, 'Request Timeout', 'The request did not come in time.'),
  chunkExtensions: {
    status: 413,
    phrase: 'Payload Too Large',
    error: createErrorObject('BODY_TOO_LARGE', { extraMessage: 'The chunk extensions are too large.' })
  },
  tunnel: {
    status: 405,
    phrase: 'Method Not Allowed',
    error: createErrorObject('METHOD_NOT_ALLOWED', { extraMessage: 'Send the request with POST.' }),
    headers: { allow: transport.allow }
  }
} as const satisfies Record<string, SocketRefusal>

function invalid(status: number, phrase: string, extraMessage: string): SocketRefusal {
  return { status, phrase, error: createErrorObject('INVALID_REQUEST', { extraMessage }) }
}

/** Name or address, and maybe a port. No list, and nobody's credentials. */
const hostPattern = /^(?:[\w.~%-]*|\[[\da-f:.]+\])(?::\d{0,5})?$/i

/** A fragment, or an absolute form without host or with credentials in it (RFC 9110, 4.2). */
const faultyTarget = /#|^https?:\/\/(?:[/?]|$|[^/?]*@)/i

/**
 * What a request's head says that node:http lets pass, and that a proxy in front may read otherwise (RFC 9112).
 *
 * @param headerFields - most header lines. node:http must be told to keep one more: what is beyond, it drops
 *   silently on some versions, and a line that is dropped is not checked.
 * @returns why the request is refused; `undefined` when nothing is wrong.
 */
export function headFault(request: IncomingMessage, headerFields: number): SocketRefusal | undefined {
  const { httpVersion, headersDistinct, rawHeaders, url = '' } = request
  const isOld = httpVersion === '1.0'
  if (rawHeaders.length / 2 > headerFields) return socketRefusals.headTooLarge
  if (!isOld && httpVersion !== '1.1') return socketRefusals.version

  const hosts = headersDistinct.host ?? []
  const isHostCountRight = hosts.length === 1 || (hosts.length === 0 && isOld)
  if (!isHostCountRight || !hosts.every(host => hostPattern.test(host))) return socketRefusals.host
  if (faultyTarget.test(url)) return socketRefusals.target

  const codings = headersDistinct['transfer-encoding']
  if (codings !== undefined && isOld) return socketRefusals.framing
  if (codings !== undefined && !isOnly(codings, 'chunked')) return socketRefusals.coding

  // HTTP/1.0 knows no expectations, so there they mean nothing.
  const { expect } = headersDistinct
  if (expect !== undefined && !isOld && !isOnly(expect, '100-continue')) return socketRefusals.expectation
  return undefined
}

function isOnly(values: readonly string[], word: string): boolean {
  return values.length === 1 && values[0]?.toLowerCase() === word
}
