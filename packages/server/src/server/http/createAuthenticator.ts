import type { Caller } from '../projects/Caller.ts'
import type { KeyRing } from '../projects/createKeyRing.ts'
import type { ProjectVerifier } from '../projects/createProjectVerifier.ts'

/** What a request says of its caller. */
export interface Credentials {
  readonly projectId: string
  readonly key: string
  /** The `Origin` header. */
  readonly origin: string | undefined
  /** Who sent them, as limits count it; absent where it is not known. */
  readonly address?: string | undefined
}

/**
 * @returns `undefined` for wrong credentials, whatever is wrong about them.
 * @throws {Refusal} `OVERLOADED`: nobody could tell whether they are right.
 */
export type Authenticate = (credentials: Credentials) => Promise<Caller | undefined>

/**
 * Recognises callers. Nothing of a key is kept, and an unknown project costs the same as a wrong key.
 *
 * @param keyRing - the keys in force; asked anew for every request.
 * @param verifier - asked for projects that are not among them; absent: these are wrong.
 */
export function createAuthenticator(keyRing: () => KeyRing, verifier?: ProjectVerifier): Authenticate {
  return async ({ projectId, key, origin, address }) => {
    const keys = keyRing()
    const caller = keys.find(projectId, key)
    if (caller !== undefined || verifier === undefined || keys.has(projectId)) return caller
    return verifier.verify({ projectId, key, origin, address })
  }
}
