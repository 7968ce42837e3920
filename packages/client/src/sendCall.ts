import type { EndpointPath } from '@chain-data/protocol'
import type { CallOptions } from './ClientOptions.ts'
import { ConfigurationError } from './errors.ts'
import { readAnswer } from './readAnswer.ts'
import { checkTimeout, type Settings } from './readOptions.ts'
import type { Transport } from './transport.ts'
import { withDeadline } from './withDeadline.ts'

/** One call as it goes on the wire. */
export interface WireCall extends CallOptions {
  readonly id: number
  /** With the host's prefix. */
  readonly method: string
  readonly endpoint: EndpointPath
  /** Absent only for methods that need none. */
  readonly chainId: number | undefined
  readonly params: readonly unknown[]
}

/**
 * Sends one request and gives its result, whatever the transport.
 *
 * @throws {ChainDataClientError} Every failure.
 */
export async function sendCall(settings: Settings, transport: Transport, call: WireCall): Promise<unknown> {
  const { id, method, endpoint, signal } = call
  const request = {
    url: settings.baseUrl + endpoint,
    headers: {
      Accept: 'application/json',
      'Content-Type': 'application/json',
      Authorization: settings.authorization
    },
    body: writeBody(call),
    maxResponseBytes: settings.maxResponseBytes
  }
  const timeoutMs = call.timeoutMs === undefined ? settings.timeoutMs : checkTimeout(call.timeoutMs)
  const response = await withDeadline({ timeoutMs, signal }, deadline =>
    transport({ ...request, signal: deadline })
  )
  return readAnswer(response, { id, method, redact: settings.redact })
}

function writeBody({ id, method, chainId, params }: WireCall): string {
  try {
    return JSON.stringify({ jsonrpc: '2.0', id, method, chainId, params })
  } catch {
    throw new ConfigurationError('INVALID_ARGUMENT', `${method}: params cannot be written as JSON`)
  }
}
