import type { Caller } from '../projects/Caller.ts'
import type { KeyRing } from '../projects/createKeyRing.ts'
import type { ProjectVerifier } from '../projects/createProjectVerifier.ts'
import { readBasicCredentials } from './readBasicCredentials.ts'

/** What a request says of its caller. */
export interface Credentials {
  /** The `Authorization` header. */
  readonly authorization: string | undefined
  /** The `Origin` header. */
  readonly origin: string | undefined
}

/**
 * @returns `undefined` for missing, malformed and wrong credentials alike.
 * @throws {Refusal} `OVERLOADED`: nobody could tell whether they are right.
 */
export type Authenticate = (credentials: Credentials) => Promise<Caller | undefined>

/**
 * Recognises callers. Nothing of a header or a key is kept, and an unknown project costs the same as a wrong key.
 *
 * @param keyRing - the keys in force; asked anew for every request.
 * @param verifier - asked for projects that are not among them; absent: these are wrong.
 */
export function createAuthenticator(keyRing: () => KeyRing, verifier?: ProjectVerifier): Authenticate {
  return async ({ authorization, origin }) => {
    const credentials = readBasicCredentials(authorization)
    if (credentials === undefined) return undefined
    const { user: projectId, password: key } = credentials
    const keys = keyRing()
    const caller = keys.find(projectId, key)
    if (caller !== undefined || verifier === undefined || keys.has(projectId)) return caller
    return verifier.verify({ projectId, key, origin })
  }
}
