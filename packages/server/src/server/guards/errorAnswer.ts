import { errors, transport } from '@chain-data/protocol'
import { failureText } from '../rpc/envelope.ts'
import type { WireError } from '../rpc/toWireError.ts'
import type { HttpAnswer } from './exchange.ts'

/** Makes the answer of a refused request; the wait that it names becomes a header, too. */
export function errorAnswer({ reason, error }: WireError): HttpAnswer {
  const waitMs = 'retryAfterMs' in error.data ? Number(error.data.retryAfterMs) : undefined
  return {
    status: errors[reason].httpStatus,
    headers: {
      'content-type': transport.responseContentType,
      ...(waitMs === undefined ? {} : { 'retry-after': String(Math.ceil(waitMs / 1_000)) })
    },
    body: failureText({ idText: undefined }, error)
  }
}
