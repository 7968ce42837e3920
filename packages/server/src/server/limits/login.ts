import { isUtf8 } from 'node:buffer'
import { hash, randomBytes } from 'node:crypto'
import { transport } from '@chain-data/protocol'
import { BoundedMap } from '../../platform/boundedMap.ts'
import { andThen, type MaybePromise } from '../../platform/concurrency/maybePromise.ts'
import { Refusal } from '../../platform/refusal.ts'
import type { Arrival, Guard } from '../guards/guards.ts'
import type { Caller, KeyRing } from '../projects/createKeyRing.ts'
import type { ProjectVerifier } from '../projects/createProjectVerifier.ts'

/** A request whose address an earlier guard has found. */
interface Addressed extends Arrival {
  /** Absent where it is not known. */
  readonly address: string | undefined
}

/** What credentials show. */
export interface LoggedIn {
  /** The project of the key, and which kind of key it is. */
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

/** Limit of wrong credentials from one address. */
export interface LoginRule {
  /** Wrong credentials allowed within `windowMs`; then the address has to wait for as long again. */
  readonly attempts: number
  readonly windowMs: number
}

/** Project id and key, as a caller sent them. */
interface Credentials {
  readonly projectId: string
  readonly key: string
}

export interface LoginThrottle {
  /**
   * Begins to check credentials.
   *
   * @param credentials - absent where the header held none: that is a wrong attempt.
   * @returns to be called with the outcome of the check; throws as `begin` does.
   * @throws {Refusal} `RATE_LIMITED`: the address has to wait, and the credentials must not be compared.
   */
  begin(address: string, credentials: Credentials | undefined): (isRight: boolean) => void
  /** Number of attempts that were refused. */
  throttled(): number
}

/** Maximum of entries of each kind in memory; some 150 bytes each. */
const maxEntries = 100_000
/** Time after which right credentials are not known at an address any more. */
const knownForMs = 3_600_000

/**
 * Counts wrong credentials by address, and makes an address wait that sent too many.
 *
 * While it waits, only credentials are compared that were right from there within the last hour: a neighbour with a wrong
 * key keeps no running caller out. All others are refused, right or wrong.
 *
 * @param now - monotonic, in milliseconds.
 * @remarks It keeps logs and processors free of guesses; what makes guessing hopeless are keys of 128 random bits. All of it is in
 *   memory and bounded. Waits are kept apart from counts: to have one forgotten takes as many addresses that wait themselves.
 */
export function createLoginThrottle(
  { attempts, windowMs }: LoginRule,
  now: () => number = () => performance.now()
): LoginThrottle {
  /** End of the wait of an address. */
  const waits = new BoundedMap<string, number>(maxEntries)
  /** The moment at which the count of an address is back at zero: wrong credentials run out of it evenly. */
  const counts = new BoundedMap<string, number>(maxEntries)
  /** When credentials were last right at an address, by a digest of both. */
  const known = new BoundedMap<string, number>(maxEntries)
  const secret = randomBytes(32).toString('base64url')
  let throttled = 0

  /** With the length, so that no two credentials have the same text. An address holds no line end. */
  function digestOf(address: string, { projectId, key }: Credentials): string {
    const text = `${secret}${address}\n${projectId.length}:${projectId}${key}`
    return hash('sha256', text, 'base64url').slice(0, 22)
  }

  /** @throws {Refusal} `RATE_LIMITED` */
  function admit(address: string, digest: string | undefined): void {
    const waitMs = (waits.get(address) ?? 0) - now()
    if (waitMs <= 0) return
    const rightMs = digest && known.get(digest)
    if (typeof rightMs === 'number' && now() - rightMs < knownForMs) return
    throttled++
    throw new Refusal('RATE_LIMITED', 'Too many wrong credentials came from this address.', {
      retryAfterMs: Math.ceil(waitMs)
    })
  }

  function countFailure(address: string): void {
    const nowMs = now()
    if ((waits.get(address) ?? 0) > nowMs) return
    const noneAtMs = Math.max(counts.get(address) ?? nowMs, nowMs) + windowMs / attempts
    // Half an attempt is the tolerance for rounding.
    if (noneAtMs - nowMs > windowMs - windowMs / attempts / 2) {
      counts.delete(address)
      waits.set(address, nowMs + windowMs)
    } else counts.set(address, noneAtMs)
  }

  return {
    begin(address, credentials) {
      const digest = credentials && digestOf(address, credentials)
      admit(address, digest)
      return isRight => {
        // Attempts under way at the same time may have used up the count.
        admit(address, digest)
        if (!isRight) countFailure(address)
        if (digest === undefined) return
        if (isRight) known.set(digest, now())
        else known.delete(digest)
      }
    },
    throttled: () => throttled
  }
}
