import { randomUUID } from 'node:crypto'
import { createErrorObject, type RpcErrorObject, transport } from '@chain-data/protocol'
import { failureText } from '../rpc/envelope.ts'

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

/** Headers and body of a refusal, under a request id of its own. */
export function writeRefusal({ error, headers }: SocketRefusal): {
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
} {
  const body = failureText({ idText: undefined }, error)
  return {
    headers: {
      'content-type': transport.responseContentType,
      ...transport.answerHeaders,
      'x-request-id': randomUUID(),
      connection: 'close',
      'content-length': String(Buffer.byteLength(body)),
      ...headers
    },
    body
  }
}
