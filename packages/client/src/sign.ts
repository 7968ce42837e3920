import { configurationError } from './errors.ts'
import type { Settings } from './readOptions.ts'

/** The headers of one request, and the texts in them that must be shown nowhere. */
export interface Signed {
  readonly headers: Readonly<Record<string, string>>
  readonly secrets: readonly string[]
}

/** @throws {ConfigurationError} `AUTH_FAILED`: `auth` failed, or what it gave are no headers. */
export async function sign({ auth, secrets }: Pick<Settings, 'auth' | 'secrets'>): Promise<Signed> {
  if (typeof auth !== 'function') return { headers: auth, secrets }
  try {
    const headers = { ...(await auth()) }
    const values = Object.values(headers)
    // A transport would refuse others too, and show them in its error.
    if (/^[\w,-]*$/.test(`${Object.keys(headers)}`) && values.every(value => /^[ -~]+$/.test(value))) {
      return { headers, secrets: values.flatMap(value => [value, ...value.split(' ')]) }
    }
  } catch {
    // Its error may hold what it signs with.
  }
  throw configurationError('AUTH_FAILED', 'auth must give an object of header names and values')
}
