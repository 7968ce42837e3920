import { isUtf8 } from 'node:buffer'
import { transport } from '@chain-data/protocol'
import { andThen, type MaybePromise } from '../../platform/concurrency/maybePromise.ts'
import { Refusal } from '../../platform/refusal.ts'
import type { Arrival, Guard } from '../guards/guards.ts'
import type { Caller, KeyRing } from '../projects/createKeyRing.ts'
import type { ProjectVerifier } from '../projects/createProjectVerifier.ts'
import type { Credentials, LoginThrottle } from './loginThrottle.ts'

/** A request whose address an earlier guard has found. */
interface Addressed extends Arrival {
  /** Absent where it is not known. */
  readonly address: string | undefined
}

/** What credentials show. */
export interface LoggedIn {
  readonly caller: Caller
  /** Checks the same credentials again, for an answer that lasts. False only where they are known to be wrong. */
  readonly isStillCaller: () => Promise<boolean>
}

/** A check of a call whose caller is known; it lets the call go on, answers it, or throws what the caller gets. */
export type CallGuard = Guard<Arrival & LoggedIn>

/**
 * Checks credentials. Nothing of a key is kept, and an unknown project costs the same as a wrong key.
 *
 * @param options.verifier - asked for projects that are not in the key ring; absent: these are wrong.
 * @param options.throttle - slows down addresses that guess keys; absent: nothing is counted. Nor is it where the address
 *   is not known.
 */
export function checkLogin(options: {
  readonly keyRing: Pick<KeyRing, 'has' | 'find'>
  readonly verifier?: ProjectVerifier | undefined
  readonly throttle?: LoginThrottle | undefined
}): Guard<Addressed, LoggedIn> {
  const { keyRing, verifier, throttle } = options

  function authenticate(
    credentials: Parameters<ProjectVerifier['verify']>[0]
  ): MaybePromise<Caller | undefined> {
    const { projectId, key } = credentials
    const caller = keyRing.find(projectId, key)
    if (caller !== undefined || verifier === undefined || keyRing.has(projectId)) return caller
    return verifier.verify(credentials)
  }

  return ({ request, address, answerHeaders }) => {
    const origin = request.header('origin')
    const authorization = request.header('authorization')
    const credentials = readBasicCredentials(authorization)
    const isCounted = address !== undefined && authorization !== undefined
    const end = isCounted ? throttle?.begin(address, credentials) : undefined
    const letIn = (caller: Caller | undefined): LoggedIn => {
      end?.(caller !== undefined)
      if (caller === undefined) {
        answerHeaders['www-authenticate'] = transport.challenge
        throw new Refusal('UNAUTHENTICATED', credentials === undefined ? sendHint : wrongHint, {})
      }
      if (caller.origins && (origin === undefined || !caller.origins.includes(origin))) {
        throw new Refusal('FORBIDDEN_ORIGIN', 'This key may not be used from this origin.', {})
      }
      return { caller, isStillCaller }
    }
    const isStillCaller = async () => {
      // Read anew from the request: nothing else keeps the key.
      const same = readBasicCredentials(request.header('authorization'))
      if (same === undefined) return false
      try {
        const found = await authenticate({ ...same, origin, address })
        return found !== undefined && (!found.origins || found.origins.includes(origin ?? ''))
      } catch {
        // The host does not answer whose key it is.
        return true
      }
    }
    return andThen(credentials && authenticate({ ...credentials, origin, address }), letIn)
  }
}

const sendHint = 'Send HTTP Basic credentials: project id and project server key.'
/** It does not say which of the two is wrong. */
const wrongHint = 'No project has this id and key: check both, and whether the key has ended.'

const headerPattern = /^Basic +([A-Za-z0-9+/]+={0,2})$/i

/**
 * Reads project id and key, which are user and password of an `Authorization: Basic` header (RFC 7617, UTF-8).
 *
 * @returns `undefined` for anything else, a repeated header included.
 */
function readBasicCredentials(header: string | undefined): Credentials | undefined {
  const encoded = headerPattern.exec(header ?? '')?.[1]
  if (encoded === undefined || encoded.length % 4 !== 0) return undefined
  const bytes = Buffer.from(encoded, 'base64')
  const text = isUtf8(bytes) ? bytes.toString() : ''
  const colon = text.indexOf(':')
  return colon < 0 ? undefined : { projectId: text.slice(0, colon), key: text.slice(colon + 1) }
}
