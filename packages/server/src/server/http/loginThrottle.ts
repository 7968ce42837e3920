import { hash } from 'node:crypto'
import type { LoginFact } from '../../model/loginFact.ts'
import { BoundedMap } from '../../platform/boundedMap.ts'
import { Refusal } from '../../platform/refusal.ts'
import { createOwnMemory, type LoginMemory } from './loginMemory.ts'

/** Limit of wrong credentials from one address. */
export interface LoginRule {
  /** Wrong credentials allowed within `windowMs`; then the address has to pause. */
  readonly attempts: number
  readonly windowMs: number
  /** The first pause lasts `windowMs`; each one after it twice as long, up to this. */
  readonly longestPauseMs: number
}

/** Project id and key, as a caller sent them. */
export interface Credentials {
  readonly projectId: string
  readonly key: string
}

export interface LoginThrottle {
  /**
   * Begins to check credentials.
   *
   * @param credentials - absent where the header held none: that is a wrong attempt.
   * @returns to be called with what they turned out to be; throws as `begin` does.
   * @throws {Refusal} `RATE_LIMITED`: the address has to wait, and the credentials must not be compared.
   */
  begin(address: string, credentials: Credentials | undefined): (isRight: boolean) => void
  /** Number of attempts that were told to wait. */
  throttled(): number
}

/** Maximum of facts of each kind in memory; some 150 bytes each. */
const maxFacts = 100_000
/** Time after which right credentials are not known at an address any more. */
const knownForMs = 3_600_000
/** A use is remembered only if the last one is older: most requests then change nothing. */
const useGrainMs = 300_000
/** Promises that one pause may make: so many guesses of it are heard. */
const promisesPerPause = 20
/** Time after which a promise that nobody came for is void. */
const promiseForMs = 60_000
/** Attempts for what no project can be called get no promise. */
const projectIdPattern = /^[^\p{Cc}]{1,128}$/u

interface Pause {
  readonly untilMs: number
  readonly lengthMs: number
  readonly promises: number
}

interface KeptPromise {
  readonly digest: string
  readonly dueMs: number
  readonly isHeard: boolean
}

/** Why credentials may be compared: the address does not pause, they were right before, or they waited as told. */
type Pass = 'open' | 'known' | 'promised'

/**
 * Counts wrong credentials by address, and makes an address pause that sent too many.
 *
 * In a pause only credentials are compared that were right from the address within the last hour, recognised by a digest.
 * All others are refused unheard, right or wrong, or guessing would go on. So that a neighbour who goes on guessing keeps nobody out, a pause makes
 * promises: the first credentials of a project that ask in it are compared once when it is over, also where the next pause has begun.
 *
 * @param memory - outlives the process; absent: nothing does.
 * @param now - milliseconds since the Unix epoch.
 * @remarks Failures run out of the count evenly within the window. The first wrong key after a pause begins the next
 *   one, until the address was quiet for `longestPauseMs`. Guesses are bounded by the promises of a pause. Memory is bounded;
 *   pauses are kept apart from counts, so that forgetting one takes as many addresses that pause themselves.
 */
export function createLoginThrottle(
  { attempts, windowMs, longestPauseMs }: LoginRule,
  memory: LoginMemory = createOwnMemory(),
  now: () => number = () => performance.timeOrigin + performance.now()
): LoginThrottle {
  const pauses = new BoundedMap<string, Pause>(maxFacts)
  /** The moment at which the count of an address is back at zero. */
  const counts = new BoundedMap<string, number>(maxFacts)
  /** When credentials were last right at an address. */
  const known = new BoundedMap<string, number>(maxFacts)
  const promises = new BoundedMap<string, KeptPromise>(maxFacts)
  let throttled = 0
  memory.onFact(restore)

  /** Clocks of servers differ, and are set: no pause may last longer for it than a pause does. */
  function restore({ kind, address, name, atMs, lengthMs, count, digest }: LoginFact): void {
    const latestMs = now() + longestPauseMs
    const key = nameAt(address, name)
    if (kind === 'known') {
      if (atMs === 0) known.delete(key)
      else known.set(key, Math.min(atMs, now()))
    }
    if (kind === 'count') counts.set(address, Math.min(atMs, now() + windowMs))
    if (kind === 'promise') promises.set(key, { digest, dueMs: Math.min(atMs, latestMs), isHeard: count > 0 })
    if (kind === 'pause') {
      pauses.set(address, { untilMs: Math.min(atMs, latestMs), lengthMs, promises: count })
    }
  }

  /** @throws {Refusal} `RATE_LIMITED` */
  function pass(address: string, digest: string | undefined, projectId = ''): Pass {
    const pause = pauses.get(address)
    if (pause === undefined) return 'open'
    const nowMs = now()
    const promise = promises.get(nameAt(address, projectId))
    const isPromised = promise !== undefined && !promise.isHeard && promise.digest === digest
    const isDue = isPromised && promise.dueMs <= nowMs
    // Also where the pause is over: they are heard once.
    if (isDue) setPromise(address, projectId, { ...promise, isHeard: true })
    if (pause.untilMs <= nowMs) return 'open'
    if (digest !== undefined && sinceRightMs(address, digest) < knownForMs) return 'known'
    if (isDue) return 'promised'
    if (digest !== undefined && isVoid(promise, nowMs) && projectIdPattern.test(projectId)) {
      makePromise(address, projectId, digest, pause)
    }
    throttled++
    throw new Refusal('RATE_LIMITED', 'Too many wrong credentials came from this address.', {
      retryAfterMs: Math.ceil((isPromised ? promise.dueMs : pause.untilMs) - nowMs)
    })
  }

  function isVoid(promise: KeptPromise | undefined, nowMs: number): boolean {
    if (promise === undefined) return true
    return promise.isHeard || promise.dueMs + promiseForMs <= nowMs
  }

  function makePromise(address: string, projectId: string, digest: string, pause: Pause): void {
    if (pause.promises >= promisesPerPause) return
    setPause(address, { ...pause, promises: pause.promises + 1 })
    setPromise(address, projectId, { digest, dueMs: pause.untilMs, isHeard: false })
  }

  function countFailure(address: string): void {
    const nowMs = now()
    const begin = (wantedMs: number) => {
      const lengthMs = Math.min(longestPauseMs, wantedMs)
      setPause(address, { untilMs: nowMs + lengthMs, lengthMs, promises: 0 })
    }
    const last = pauses.get(address)
    if (last !== undefined && nowMs < last.untilMs + longestPauseMs) {
      begin(last.lengthMs * 2)
      return
    }
    const noneAtMs = Math.max(counts.get(address) ?? nowMs, nowMs) + windowMs / attempts
    if (noneAtMs - nowMs > windowMs - windowMs / attempts / 2) {
      counts.delete(address)
      begin(windowMs)
    } else {
      counts.set(address, noneAtMs)
      memory.save(factOf('count', address, { atMs: noneAtMs, forgetAtMs: noneAtMs }))
    }
  }

  function setPause(address: string, pause: Pause): void {
    const { untilMs, lengthMs, promises: count } = pause
    pauses.set(address, pause)
    const forgetAtMs = untilMs + longestPauseMs
    memory.saveNow(factOf('pause', address, { atMs: untilMs, lengthMs, count, forgetAtMs }))
  }

  function setPromise(address: string, projectId: string, promise: KeptPromise): void {
    const { digest, dueMs, isHeard } = promise
    promises.set(nameAt(address, projectId), promise)
    const times = { atMs: dueMs, forgetAtMs: dueMs + promiseForMs + longestPauseMs }
    memory.saveNow(factOf('promise', address, { name: projectId, digest, count: Number(isHeard), ...times }))
  }

  function sinceRightMs(address: string, digest: string): number {
    return now() - (known.get(nameAt(address, digest)) ?? Number.NEGATIVE_INFINITY)
  }

  function remember(address: string, digest: string): void {
    if (sinceRightMs(address, digest) < useGrainMs) return
    const fact = { name: digest, atMs: now(), forgetAtMs: now() + knownForMs }
    known.set(nameAt(address, digest), fact.atMs)
    memory.save(factOf('known', address, fact))
  }

  /** The key was revoked. */
  function forget(address: string, digest: string): void {
    known.delete(nameAt(address, digest))
    memory.save(factOf('known', address, { name: digest, atMs: 0, forgetAtMs: now() + knownForMs }))
  }

  return {
    begin(address, credentials) {
      const digest = credentials && digestOf(credentials, memory.secret)
      const projectId = credentials?.projectId
      let passed = pass(address, digest, projectId)
      return isRight => {
        // Another attempt may have begun a pause meanwhile.
        if (passed === 'open') passed = pass(address, digest, projectId)
        if (isRight && digest !== undefined) remember(address, digest)
        else if (passed === 'open') countFailure(address)
        else if (passed === 'known' && digest !== undefined) forget(address, digest)
      }
    },
    throttled: () => throttled
  }
}

/** An address holds no line end. */
function nameAt(address: string, name: string): string {
  return `${address}\n${name}`
}

/** With the length, so that no two credentials have the same text. */
function digestOf({ projectId, key }: Credentials, secret: string): string {
  return hash('sha256', `${secret}${projectId.length}:${projectId}${key}`, 'base64url').slice(0, 22)
}

function factOf(
  kind: LoginFact['kind'],
  address: string,
  { atMs, forgetAtMs, ...others }: Pick<LoginFact, 'atMs' | 'forgetAtMs'> & Partial<LoginFact>
): LoginFact {
  const times = { atMs: Math.round(atMs), forgetAtMs: Math.ceil(forgetAtMs) }
  return { name: '', lengthMs: 0, count: 0, digest: '', ...others, ...times, kind, address }
}
