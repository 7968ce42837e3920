import { basicAuthorization } from './basicAuthorization.ts'
import type { AuthProvider } from './ClientOptions.ts'
import { need } from './errors.ts'

/** The headers of one request, and the texts in them that must be shown nowhere. */
interface Signed {
  readonly headers: Readonly<Record<string, string>>
  readonly secrets: readonly string[]
}

/** Signs one request. @throws {ConfigurationError} `AUTH_FAILED`: an `auth` failed, or what it gave are no headers. */
export type Sign = (method: string) => Signed | Promise<Signed>

/** @throws {ConfigurationError} Basic cannot carry one of the two. */
export function basicAuth(projectId: string | undefined, key: string | undefined): Sign {
  const Authorization = basicAuthorization(projectId, key)
  const signed = { headers: { Authorization }, secrets: [Authorization.slice(6), `${key}`] }
  return () => signed
}

/** @param auth - Asked for every request. `false`: nothing signs. */
export function checkedAuth(auth: AuthProvider | false): Sign {
  return async method => {
    try {
      const headers = { ...(auth && (await auth())) }
      const values = Object.values(headers)
      const secrets = values.flatMap(value => [value, ...value.split(' ')])
      // A transport would refuse others too, and show them in its error.
      if (/^[\w,-]*$/.test(`${Object.keys(headers)}`) && values.every(value => /^[ -~]+$/.test(value))) {
        return { headers, secrets }
      }
    } catch {
      // Its error may hold what it signs with.
    }
    need(false, 'auth must give an object of header names and values', 'AUTH_FAILED', method)
  }
}
