import { configurationError } from './errors.ts'

/**
 * The value of the `Authorization` header for HTTP Basic, in UTF-8 whatever the runtime.
 *
 * @throws {ConfigurationError} A part is empty, not a string, or cannot be carried by Basic. The message never
 *   shows it.
 * @see RFC 7617: no colon in the user id, no control characters, UTF-8
 */
export function basicAuthorization(projectId: string, key: string): string {
  const pair = [projectId, key]
  if (!pair.every(part => typeof part === 'string' && /^\P{Cc}+$/u.test(part)) || projectId.includes(':')) {
    throw configurationError(
      'INVALID_OPTION',
      "projectId and key must be texts without control characters, projectId without ':'"
    )
  }
  // Bytes as characters: btoa throws beyond Latin-1, and React Native has no TextEncoder everywhere. Half a
  // surrogate pair has no UTF-8 form and becomes U+FFFD, as everywhere.
  const bytes = encodeURIComponent(pair.join(':').replace(/\p{Cs}/gu, '\ufffd')).replace(/%(..)/g, (_, hex) =>
    String.fromCharCode(Number(`0x${hex}`))
  )
  return `Basic ${btoa(bytes)}`
}
