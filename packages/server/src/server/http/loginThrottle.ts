import { BoundedMap } from '../../platform/boundedMap.ts'
import type { Caller } from '../projects/createKeyRing.ts'

/** How many wrong credentials an address may send. */
export interface LoginRule {
  /** So many within `windowMs`, then a pause. */
  readonly attempts: number
  readonly windowMs: number
  /** The first pause lasts `windowMs`; each one after it twice as long, up to this. */
  readonly longestPauseMs: number
}

/** A caller; or how long the address has to wait; or `undefined` for credentials that are wrong. */
export type Login = { readonly caller: Caller } | { readonly retryAfterMs: number } | undefined

/** Slows down whoever guesses keys. */
export interface LoginThrottle {
  /**
   * @param address - absent where it is not known: the credentials are compared, and nothing is counted.
   * @param projectId - as the credentials name it; absent where they name none.
   * @param authenticate - compares the credentials; not called for an address that has to wait, unless a right key of
   *   this project came from it in the last hour.
   */
  attempt(
    address: string | undefined,
    projectId: string | undefined,
    authenticate: () => Promise<Caller | undefined>
  ): Promise<Login>
  /** Requests told to wait, so far. */
  throttled(): number
}

/** Of each kind; some 100 bytes per address. */
const largestNumberOfAddresses = 100_000
const knownForMs = 3_600_000
const projectsPerAddress = 16
const off: LoginRule = { attempts: 0, windowMs: 0, longestPauseMs: 0 }

interface Pause {
  untilMs: number
  lengthMs: number
}

/**
 * Counts wrong credentials by address, whatever project they name: a project id is public, and whoever knows it must not
 * be able to lock its owner out.
 *
 * An address in a pause gets no answer on its credentials, right or wrong, or guessing would go on. But a project that
 * sent a right key from there in the last hour stays served: others behind the same address are not locked out by one
 * program with a wrong key, and a guesser elsewhere gains nothing by it.
 *
 * @param rule - `false`: nothing is counted.
 * @remarks Failures run out of the count evenly within the window. The first wrong key after a pause begins the next
 *   one, until the address was quiet for `longestPauseMs`. Memory is bounded; pauses are kept apart from counts, so
 *   that forgetting one takes as many addresses that are in a pause themselves. A right key changes nothing of that.
 */
export function createLoginThrottle(rule: LoginRule | false, now = () => performance.now()): LoginThrottle {
  const { attempts, windowMs, longestPauseMs } = rule === false ? off : rule
  const pauses = new BoundedMap<string, Pause>(largestNumberOfAddresses)
  /** The moment at which the count of an address is back at none. */
  const counts = new BoundedMap<string, number>(largestNumberOfAddresses)
  const known = new BoundedMap<string, Map<string, number>>(largestNumberOfAddresses)
  let throttled = 0

  return {
    throttled: () => throttled,
    async attempt(address, projectId, authenticate) {
      if (rule === false || address === undefined) {
        const caller = await authenticate()
        return caller && { caller }
      }
      if (!isServed(address, projectId)) return refuse(address)
      const caller = await authenticate()
      // Another attempt may have begun a pause meanwhile.
      if (caller !== undefined && isServed(address, projectId)) {
        if (projectId !== undefined) remember(address, projectId)
        return { caller }
      }
      if (waitOf(address) > 0) return refuse(address)
      countFailure(address)
      return undefined
    }
  }

  function isServed(address: string, projectId: string | undefined): boolean {
    if (waitOf(address) === 0) return true
    const seenMs = projectId === undefined ? undefined : known.get(address)?.get(projectId)
    return seenMs !== undefined && isRecent(seenMs)
  }

  function isRecent(seenMs: number): boolean {
    return now() - seenMs < knownForMs
  }

  function refuse(address: string): Login {
    throttled++
    return { retryAfterMs: Math.ceil(waitOf(address)) }
  }

  function waitOf(address: string): number {
    return Math.max(0, (pauses.get(address)?.untilMs ?? 0) - now())
  }

  function countFailure(address: string): void {
    const nowMs = now()
    const last = pauses.get(address)
    if (last !== undefined && nowMs < last.untilMs + longestPauseMs) {
      pause(address, Math.min(longestPauseMs, last.lengthMs * 2))
      return
    }
    const noneAtMs = Math.max(counts.get(address) ?? nowMs, nowMs) + windowMs / attempts
    if (noneAtMs - nowMs > windowMs - windowMs / attempts / 2) {
      counts.delete(address)
      pause(address, Math.min(longestPauseMs, windowMs))
    } else {
      counts.set(address, noneAtMs)
    }
  }

  function pause(address: string, lengthMs: number): void {
    pauses.set(address, { untilMs: now() + lengthMs, lengthMs })
  }

  function remember(address: string, projectId: string): void {
    const projects = known.get(address) ?? new Map<string, number>()
    if (!projects.has(projectId) && projects.size >= projectsPerAddress) {
      for (const [one, seenMs] of projects) if (!isRecent(seenMs)) projects.delete(one)
      if (projects.size >= projectsPerAddress) return
    }
    projects.set(projectId, now())
    known.set(address, projects)
  }
}
