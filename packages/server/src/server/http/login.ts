import { isUtf8 } from 'node:buffer'
import { transport } from '@chain-data/protocol'
import { BoundedMap } from '../../platform/boundedMap.ts'
import { Refusal } from '../../platform/refusal.ts'
import type { Caller, KeyRing } from '../projects/createKeyRing.ts'
import type { ProjectVerifier } from '../projects/createProjectVerifier.ts'
import type { Arrival, Guard } from './guards.ts'

/** Limit of wrong credentials from one address. */
export interface LoginRule {
  /** Wrong credentials allowed within `windowMs`; then the address has to pause. */
  readonly attempts: number
  readonly windowMs: number
  /** The first pause lasts `windowMs`; each one after it twice as long, up to this. */
  readonly longestPauseMs: number
}

/** A request whose address an earlier guard has found. */
interface Addressed extends Arrival {
  /** Absent where it is not known. */
  readonly address: string | undefined
}

export interface Login {
  /** Guard: finds the caller by HTTP Basic credentials. A client key is good for pages of its origins only. */
  readonly guard: Guard<Addressed, { readonly caller: Caller }>
  /** Number of requests that were told to wait. */
  throttled(): number
}

/** Maximum of addresses in each map; some 100 bytes per address. */
const maxAddresses = 100_000
const knownForMs = 3_600_000
const maxProjectsPerAddress = 16

/**
 * Checks credentials, and slows down callers that guess keys. Nothing of a key is kept, and an unknown project costs the
 * same as a wrong key.
 *
 * Wrong credentials are counted by address, whatever project they name: a project id is public, and a stranger who knows
 * it must not be able to lock its owner out. An address in a pause gets no answer on its credentials, right or wrong, or
 * guessing would go on. But a project that sent a right key from there in the last hour stays served: others behind the
 * same address are not locked out by one program with a wrong key, and a guesser elsewhere gains nothing by it.
 *
 * @param options.verifier - asked for projects that are not in the key ring; absent: these are wrong.
 * @param options.rule - `false`: nothing is counted. Nor is it where the address is not known.
 * @remarks Failures run out of the count evenly within the window. The first wrong key after a pause begins the next
 *   one, until the address was quiet for `longestPauseMs`. Memory is bounded; pauses are kept apart from counts, so
 *   that forgetting one takes as many addresses that are in a pause themselves. A right key changes nothing of that.
 */
export function createLogin(options: {
  readonly keyRing: Pick<KeyRing, 'has' | 'find'>
  readonly verifier?: ProjectVerifier | undefined
  readonly rule: LoginRule | false
  readonly now?: () => number
}): Login {
  const { keyRing, verifier, rule, now = () => performance.now() } = options
  const pauses = new BoundedMap<string, { readonly untilMs: number; readonly lengthMs: number }>(maxAddresses)
  /** The moment at which the count of an address is back at zero. */
  const counts = new BoundedMap<string, number>(maxAddresses)
  /** When a right key of a project last came from an address. */
  const known = new BoundedMap<string, Map<string, number>>(maxAddresses)
  let throttled = 0

  return {
    throttled: () => throttled,
    async guard({ request, address, answerHeaders }, next) {
      const origin = request.header('origin')
      const authorization = request.header('authorization')
      const credentials = readBasicCredentials(authorization)
      const isCounted = rule !== false && address !== undefined && authorization !== undefined
      if (isCounted) requireServed(address, credentials?.projectId)
      const caller = credentials && (await authenticate({ ...credentials, origin, address }))
      if (isCounted) {
        // Another attempt may have begun a pause meanwhile.
        requireServed(address, caller && credentials?.projectId)
        if (caller === undefined) countFailure(address, rule)
        else if (credentials !== undefined) remember(address, credentials.projectId)
      }
      if (caller === undefined) {
        answerHeaders['www-authenticate'] = transport.challenge
        const message = 'Send HTTP Basic credentials: project id and project server key.'
        throw new Refusal('UNAUTHENTICATED', message, {})
      }
      if (caller.origins && (origin === undefined || !caller.origins.includes(origin))) {
        throw new Refusal('FORBIDDEN_ORIGIN', 'This key may not be used from this origin.', {})
      }
      return next({ caller })
    }
  }

  async function authenticate(
    credentials: Parameters<ProjectVerifier['verify']>[0]
  ): Promise<Caller | undefined> {
    const { projectId, key } = credentials
    const caller = keyRing.find(projectId, key)
    if (caller !== undefined || verifier === undefined || keyRing.has(projectId)) return caller
    return verifier.verify(credentials)
  }

  /** @param projectId - absent where the credentials name none, or are wrong. */
  function requireServed(address: string, projectId: string | undefined): void {
    const waitMs = (pauses.get(address)?.untilMs ?? 0) - now()
    if (waitMs <= 0) return
    const seenMs = projectId === undefined ? undefined : known.get(address)?.get(projectId)
    if (seenMs !== undefined && isRecent(seenMs)) return
    throttled++
    throw new Refusal('RATE_LIMITED', 'Too many wrong credentials came from this address.', {
      retryAfterMs: Math.ceil(waitMs)
    })
  }

  function isRecent(seenMs: number): boolean {
    return now() - seenMs < knownForMs
  }

  function countFailure(address: string, { attempts, windowMs, longestPauseMs }: LoginRule): void {
    const nowMs = now()
    const pause = (wantedMs: number) => {
      const lengthMs = Math.min(longestPauseMs, wantedMs)
      pauses.set(address, { untilMs: nowMs + lengthMs, lengthMs })
    }
    const last = pauses.get(address)
    if (last !== undefined && nowMs < last.untilMs + longestPauseMs) {
      pause(last.lengthMs * 2)
      return
    }
    const noneAtMs = Math.max(counts.get(address) ?? nowMs, nowMs) + windowMs / attempts
    if (noneAtMs - nowMs > windowMs - windowMs / attempts / 2) {
      counts.delete(address)
      pause(windowMs)
    } else {
      counts.set(address, noneAtMs)
    }
  }

  function remember(address: string, projectId: string): void {
    const projects = known.get(address) ?? new Map<string, number>()
    if (!projects.has(projectId) && projects.size >= maxProjectsPerAddress) {
      for (const [one, seenMs] of projects) if (!isRecent(seenMs)) projects.delete(one)
      if (projects.size >= maxProjectsPerAddress) return
    }
    projects.set(projectId, now())
    known.set(address, projects)
  }
}

const headerPattern = /^Basic +([A-Za-z0-9+/]+={0,2})$/i

/**
 * Reads project id and key, which are user and password of an `Authorization: Basic` header (RFC 7617, UTF-8).
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
