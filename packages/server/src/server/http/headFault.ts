import type { IncomingMessage } from 'node:http'
import { type SocketRefusal, socketRefusals } from './socketRefusal.ts'

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
