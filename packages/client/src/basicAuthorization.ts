import { need } from './errors.ts'

/**
 * The value of the `Authorization` header for HTTP Basic, in UTF-8 whatever the runtime.
 *
 * @throws {ConfigurationError} A part is empty, not a string, or cannot be carried by Basic. The message never
 *   shows it.
 * @see RFC 7617: no colon in the user id, no control characters, UTF-8
 */
export function basicAuthorization(projectId: string | undefined, key: string | undefined): string {
  const pair = [projectId, key]
  need(
    pair.every(part => typeof part === 'string' && /^\P{Cc}+$/u.test(part)) && !projectId?.includes(':'),
    "projectId and key must be texts without control characters, projectId without ':'"
  )
  // Half a surrogate pair has no UTF-8 form and becomes U+FFFD, as everywhere. `unescape` makes bytes as characters
  // of percent signs: btoa throws beyond Latin-1, and React Native has no TextEncoder everywhere.
  return `Basic ${btoa(unescape(encodeURIComponent(pair.join(':').replace(/\p{Cs}/gu, '\ufffd'))))}`
}
