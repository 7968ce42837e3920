import type { Caller } from '../projects/Caller.ts'
import type { KeyRing } from '../projects/createKeyRing.ts'
import { readBasicCredentials } from './readBasicCredentials.ts'

/** What a request says of its caller. */
export interface Credentials {
  /** The `Authorization` header. */
  readonly authorization: string | undefined
  /** The `Origin` header. */
  readonly origin: string | undefined
}

/** @returns `undefined` for missing, malformed and wrong credentials alike. */
export type Authenticate = (credentials: Credentials) => Promise<Caller | undefined>

/**
 * Recognises callers. Nothing of a header or a key is kept, and an unknown project costs the same as a wrong key.
 *
 * @param keyRing - the keys in force; asked anew for every request.
 */
export function createAuthenticator(keyRing: () => KeyRing): Authenticate {
  return async ({ authorization }) => {
    const credentials = readBasicCredentials(authorization)
    return credentials && keyRing().find(credentials.user, credentials.password)
  }
}
