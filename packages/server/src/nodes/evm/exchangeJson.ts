import {
  type HttpUpstream,
  type UpstreamAnswer,
  UpstreamError,
  type UpstreamFault
} from '../upstreams/httpUpstream.ts'

/**
 * POSTs one JSON value and parses the answer.
 * @returns the parsed body, whatever it is. A body that looks like JSON-RPC is returned under any HTTP status but 429,
 *   because some nodes answer execution errors with 400 or 500.
 * @throws {UpstreamError}
 */
export async function exchangeJson(
  upstream: HttpUpstream,
  body: unknown,
  signal: AbortSignal
): Promise<unknown> {
  return readAnswer(await upstream.post(JSON.stringify(body), signal), upstream.name)
}

/**
 * Parses an answer that has come.
 * @returns and throws as `exchangeJson` does.
 */
export function readAnswer({ status, body, retryAfterMs }: UpstreamAnswer, name: string): unknown {
  let answer: unknown
  try {
    answer = JSON.parse(body.toString('utf8'))
  } catch {
    answer = undefined
  }
  if (status >= 200 && status < 300) {
    if (answer !== undefined) return answer
    throw new UpstreamError(`${name} answered something that is not JSON`, 'malformed')
  }
  if (looksLikeJsonRpc(answer)) return answer
  throw new UpstreamError(`${name} answered HTTP ${status}`, faultOf(status), {
    httpStatus: status,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs })
  })
}

function faultOf(status: number): UpstreamFault {
  if (status === 402) return 'exhausted'
  return status >= 500 ? 'unreachable' : 'refused'
}

function looksLikeJsonRpc(answer: unknown): boolean {
  if (Array.isArray(answer)) return answer.length > 0 && answer.every(looksLikeJsonRpc)
  return typeof answer === 'object' && answer !== null && 'jsonrpc' in answer
}
