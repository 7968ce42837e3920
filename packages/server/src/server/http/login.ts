import { isUtf8 } from 'node:buffer'
import { transport } from '@chain-data/protocol'
import { Refusal } from '../../platform/refusal.ts'
import type { Caller, KeyRing } from '../projects/createKeyRing.ts'
import type { ProjectVerifier } from '../projects/createProjectVerifier.ts'
import type { Arrival, Guard } from './guards.ts'
import type { LoginThrottle } from './loginThrottle.ts'

const headerPattern = /^Basic +([A-Za-z0-9+/]+={0,2})$/i

/** What the guard needs of the ones before it. */
export interface Addressed extends Arrival {
  /** Absent where it is not known. */
  readonly address: string | undefined
}

/**
 * Guard: finds the caller by HTTP Basic credentials, before the body is read. Nothing of a key is kept, and an unknown
 * project costs the same as a wrong key. A client key is good for pages of its origins only.
 *
 * @param options.verifier - asked for projects that are not in the key ring; absent: these are wrong.
 */
export function requireLogin(options: {
  readonly keyRing: KeyRing
  readonly verifier?: ProjectVerifier | undefined
  readonly throttle: LoginThrottle
}): Guard<Addressed, { readonly caller: Caller }> {
  const { keyRing, verifier, throttle } = options
  return async ({ request, address, answerHeaders }, next) => {
    const origin = request.header('origin')
    const authorization = request.header('authorization')
    const credentials = readBasicCredentials(authorization)
    const authenticate = async (): Promise<Caller | undefined> => {
      if (credentials === undefined) return undefined
      const { projectId, key } = credentials
      const caller = keyRing.find(projectId, key)
      if (caller !== undefined || verifier === undefined || keyRing.has(projectId)) return caller
      return verifier.verify({ projectId, key, origin, address })
    }
    const login =
      authorization === undefined
        ? undefined
        : await throttle.attempt(address, credentials?.projectId, authenticate)
    if (login === undefined) {
      answerHeaders['www-authenticate'] = transport.challenge
      const message = 'Send HTTP Basic credentials: project id and project server key.'
      throw new Refusal('UNAUTHENTICATED', message, {})
    }
    if ('retryAfterMs' in login) {
      throw new Refusal('RATE_LIMITED', 'Too many wrong credentials came from this address.', login)
    }
    const { caller } = login
    if (caller.origins && (origin === undefined || !caller.origins.includes(origin))) {
      throw new Refusal('FORBIDDEN_ORIGIN', 'This key may not be used from this origin.', {})
    }
    return next({ caller })
  }
}

/**
 * Project id and key, which are user and password of an `Authorization: Basic` header (RFC 7617, UTF-8).
 *
 * @returns `undefined` for anything else, a repeated header included.
 */
function readBasicCredentials(
  header: string | undefined
): { readonly projectId: string; readonly key: string } | undefined {
  const encoded = headerPattern.exec(header ?? '')?.[1]
  if (encoded === undefined || encoded.length % 4 !== 0) return undefined
  const bytes = Buffer.from(encoded, 'base64')
  const text = isUtf8(bytes) ? bytes.toString() : ''
  const colon = text.indexOf(':')
  return colon < 0 ? undefined : { projectId: text.slice(0, colon), key: text.slice(colon + 1) }
}
