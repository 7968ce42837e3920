import type { AuthProvider } from './ClientOptions.ts'
import { need } from './errors.ts'

/** The headers of one request, and the texts in them that must be shown nowhere. */
interface Signed {
  readonly headers: Readonly<Record<string, string>>
  readonly secrets: readonly string[]
}

/** Signs one request. @throws {ConfigurationError} `AUTH_FAILED`: an `auth` failed, or what it gave are no headers. */
export type Sign = (method: string) => Signed | Promise<Signed>

/**
 * Signs by HTTP Basic, in UTF-8 whatever the runtime.
 *
 * @throws {ConfigurationError} A part is empty, not a string, or cannot be carried by Basic. The message never
 *   shows it.
 * @see RFC 7617: no colon in the user id, no control characters, UTF-8
 */
export function basicAuth(projectId: string | undefined, key: string | undefined): Sign {
  const pair = [projectId, key] as [string, string]
  need(
    pair.every(part => typeof part === 'string' && /^\P{Cc}+$/u.test(part)) && !projectId?.includes(':'),
    "projectId and key must be texts: no control characters, no ':' in projectId"
  )
  // Half a surrogate pair has no UTF-8 form and becomes U+FFFD, as everywhere. `unescape` makes bytes as characters
  // of percent signs: btoa throws beyond Latin-1, and React Native has no TextEncoder everywhere.
  const token = btoa(unescape(encodeURIComponent(pair.join(':').replace(/\p{Cs}/gu, '\ufffd'))))
  const signed = { headers: { Authorization: `Basic ${token}` }, secrets: [token, pair[1]] }
  return () => signed
}

/** @param auth - Asked for every request. `false`: nothing signs. */
export function checkedAuth(auth: AuthProvider | false): Sign {
  return async method => {
    try {
      const headers = { ...(auth && (await auth())) }
      const values = Object.values(headers)
      // A transport would refuse others too, and show them in its error.
      if (/^[\w,-]*$/.test(`${Object.keys(headers)}`) && values.every(value => /^[ -~]+$/.test(value))) {
        return { headers, secrets: values.flatMap(value => [value, ...value.split(' ')]) }
      }
    } catch {
      // Its error may hold what it signs with.
    }
    need(false, 'auth must give headers by name', 'AUTH_FAILED', method)
  }
}
