import { MetadataError } from '../../platform/errors.ts'

/** Why an untrusted address was refused or gave nothing; `context.reason` of every MetadataError thrown here. */
export type MetadataFailureReason =
  | 'URL'
  | 'SCHEME'
  | 'USER_INFO'
  | 'PORT'
  | 'HOST'
  | 'DNS'
  | 'PRIVATE_ADDRESS'
  | 'CONNECT'
  | 'PROTOCOL'
  | 'REDIRECT'
  | 'STATUS'
  | 'ENCODING'
  | 'TOO_LARGE'
  | 'TIMEOUT'
  | 'ABORTED'
  | 'BUSY'
  | 'CONTENT'

/** Foreign text is shown at most this long in a message. */
const maxShownLength = 100

/**
 * @param subject - the foreign text in question (an URL, a host); cut to 100 characters, control characters escaped.
 * @param options.status - HTTP status, where one was received.
 * @param options.retryAfterMs - the pause that the host asked for with it.
 */
export function metadataFailure(
  reason: MetadataFailureReason,
  message: string,
  subject?: string,
  options: {
    readonly cause?: unknown
    readonly status?: number
    readonly retryAfterMs?: number | undefined
  } = {}
): MetadataError {
  const shown = subject === undefined ? '' : `: ${JSON.stringify(subject.slice(0, maxShownLength))}`
  const { cause, status, retryAfterMs } = options
  const context = {
    reason,
    ...(status !== undefined && { status }),
    ...(retryAfterMs !== undefined && { retryAfterMs })
  }
  return new MetadataError(message + shown, context, { cause })
}

/** The address was not really tried: overload or shutdown. */
export function isOurs(error: unknown): boolean {
  return error instanceof MetadataError && ['BUSY', 'ABORTED'].includes(String(error.context.reason))
}

/** The host wants a pause, which says nothing of the address. */
export function isThrottled(error: unknown): boolean {
  if (!(error instanceof MetadataError)) return false
  const { status, retryAfterMs } = error.context
  return status === 429 || (status === 503 && retryAfterMs !== undefined)
}
