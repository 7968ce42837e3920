import { BoundedMap } from '../../platform/boundedMap.ts'
import { MetadataError } from '../../platform/errors.ts'
import { isThrottled, metadataFailure } from './metadataFailure.ts'

/** The health of the hosts that metadata comes from. */
export interface HostHealth {
  /** Fails often: to be asked after all others. */
  isLast(host: string): boolean
  /** @throws {MetadataError} STATUS 429: the host has asked for a pause, for this URL or for all, which is not over. */
  requireAwake(host: string, url: string): void
  succeeded(host: string): void
  /** @param error - what a fetch of the URL threw; what is not the host's fault is passed over. */
  failed(host: string, error: unknown, url: string): void
  /** Another host answered first, although it was asked later. */
  overtaken(host: string): void
}

interface Host {
  /** Share of failures: 0 to 1, of which the newest outcome makes a fifth. */
  failing: number
  lastUntilMs: number
  restsUntilMs: number
  /** Length of its last pause, doubled with each one until something succeeds. */
  restMs: number
  /** The URL for which it asked for a pause, since it last served another. */
  throttledUrl: string | undefined
}

const weightOfNewest = 0.2
/** Passed by four failures in a row from a clean slate; not by a host that fails every other time. */
const tooOften = 0.58
/** Failure rate after a pause: the next failure begins another one. */
const onProbation = 0.5
const lastForMs = 60_000
const maxHosts = 10_000
const defaultRestMs = 10_000
const longestRestMs = 10 * 60_000

/**
 * Knows which hosts to ask later.
 *
 * One path that answers 429 makes only its own URL rest, for as long as it asked: whoever has a path of a host may let it say so.
 * When another URL is answered 429, with no success in between, the host itself rests: for 10 seconds, twice as long each further
 * time, and never longer than it asked.
 *
 * @param now - `Date.now`, replaced in tests.
 */
export function createHostHealth(now: () => number): HostHealth {
  const hosts = new BoundedMap<string, Host>(maxHosts)
  /** When a URL may be asked for again. */
  const restingUrls = new BoundedMap<string, number>(maxHosts)

  function hostOf(name: string): Host {
    const known = hosts.get(name)
    if (known !== undefined) return known
    const host = { failing: 0, lastUntilMs: 0, restsUntilMs: 0, restMs: 0, throttledUrl: undefined }
    hosts.set(name, host)
    return host
  }

  function note(name: string, outcome: 0 | 1): void {
    const host = hostOf(name)
    host.failing += weightOfNewest * (outcome - host.failing)
    if (host.failing <= tooOften || now() < host.lastUntilMs) return
    host.lastUntilMs = now() + lastForMs
    host.failing = onProbation
  }

  function rest(host: Host, url: string, askedMs: number): void {
    restingUrls.set(url, now() + askedMs)
    if (host.throttledUrl === undefined) host.throttledUrl = url
    if (host.throttledUrl === url) return
    host.restMs = Math.max(defaultRestMs, 2 * host.restMs)
    host.restsUntilMs = now() + Math.min(host.restMs, askedMs)
  }

  return {
    isLast(name) {
      const host = hosts.get(name)
      return host !== undefined && now() < Math.max(host.lastUntilMs, host.restsUntilMs)
    },
    requireAwake(name, url) {
      if (now() < Math.max(hosts.get(name)?.restsUntilMs ?? 0, restingUrls.get(url) ?? 0)) {
        throw metadataFailure('STATUS', 'Host has asked for a pause', name, { status: 429 })
      }
    },
    succeeded(name) {
      const host = hosts.get(name)
      if (host !== undefined) {
        host.restMs = 0
        host.throttledUrl = undefined
      }
      note(name, 0)
    },
    failed(name, error, url) {
      if (!(error instanceof MetadataError)) return
      const { reason, status, retryAfterMs } = error.context
      if (isThrottled(error)) {
        const askedMs = typeof retryAfterMs === 'number' ? retryAfterMs : defaultRestMs
        rest(hostOf(name), url, Math.min(askedMs, longestRestMs))
      }
      // "Not found" is an answer; so is what the address itself makes impossible.
      const isAnswer = reason === 'STATUS' && typeof status === 'number' && status < 500 && status !== 429
      if (!isAnswer && reason !== 'BUSY' && reason !== 'ABORTED') note(name, 1)
    },
    overtaken: name => note(name, 1)
  }
}
