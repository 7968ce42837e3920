import { hash, randomBytes } from 'node:crypto'
import { BoundedMap } from '../../platform/boundedMap.ts'
import { Refusal } from '../../platform/refusal.ts'

/** Limit of wrong credentials from one address. */
export interface LoginRule {
  /** Wrong credentials allowed within `windowMs`; then the address has to wait for as long again. */
  readonly attempts: number
  readonly windowMs: number
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
