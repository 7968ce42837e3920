import { type Clock, steadyClock } from '../../platform/clock.ts'
import { NodeRpcError } from '../../platform/errors.ts'
import { isMethodMissing } from './errorWords.ts'

/** Holds how many calls one upstream is given in one HTTP request; shrinks when it refuses, and grows again in time. */
export interface BatchSize {
  current(): number
  /** A batch of this size was refused. */
  refused(size: number): void
}

/** A refusal may have been a passing one: after this time twice as many are tried. Doubles with every further refusal. */
const firstGrowMs = 60_000
const maxGrowMs = 3_600_000

/** @param maxCalls - to begin with, and never more. 1 means single calls. */
export function createBatchSize(maxCalls: number, clock: Clock): BatchSize {
  let size = maxCalls
  let growAfterMs = firstGrowMs
  let growAtMs = Number.POSITIVE_INFINITY
  return {
    current() {
      if (clock.now() >= growAtMs) {
        size = Math.min(maxCalls, size * 2)
        growAtMs = size < maxCalls ? clock.now() + growAfterMs : Number.POSITIVE_INFINITY
      }
      return size
    },
    refused(refusedSize) {
      const next = Math.max(1, Math.floor(refusedSize / 2))
      // Several batches of one round are refused together: that is one finding.
      if (next >= size) return
      size = next
      growAtMs = clock.now() + growAfterMs
      growAfterMs = Math.min(maxGrowMs, growAfterMs * 2)
    }
  }
}

/** Remembers which methods one upstream lacks, so that each is asked for in vain only now and then. */
export type Capabilities = ReturnType<typeof createCapabilities>

/** A node may be upgraded, or given a right: a missing method is asked for again after this time. */
const forgetAfterMs = 10 * 60_000
/** A method that has worked before is more likely to be missing for a moment only, or at one of several nodes behind a balancer. */
const forgetKnownAfterMs = 5_000

/** @param name - of the upstream, for messages. */
export function createCapabilities(name: string) {
  const missingSince = new Map<string, number>()
  const known = new Set<string>()

  /** Reports whether the upstream is known to lack `method`. */
  function lacks(method: string): boolean {
    const since = missingSince.get(method)
    const forgetMs = known.has(method) ? forgetKnownAfterMs : forgetAfterMs
    return since !== undefined && steadyClock.now() - since < forgetMs
  }

  /** Runs `ask`, which calls `method`, and remembers whether the upstream has it. @throws what `ask` throws. */
  async function learn<T>(method: string, ask: () => Promise<T>): Promise<T> {
    try {
      const value = await ask()
      missingSince.delete(method)
      known.add(method)
      return value
    } catch (error) {
      if (isMethodMissing(error)) missingSince.set(method, steadyClock.now())
      throw error
    }
  }

  /**
   * Runs `ask` like `learn`, but not while the method is known to be missing.
   * @throws {NodeRpcError} the upstream lacks the method.
   */
  async function require<T>(method: string, ask: () => Promise<T>): Promise<T> {
    if (!lacks(method)) return learn(method, ask)
    throw new NodeRpcError(`${name} does not serve ${method} (error -32601)`, -32601, undefined)
  }

  /** Runs `ask` like `require`. @returns `undefined` when the upstream lacks the method. */
  async function attempt<T>(method: string, ask: () => Promise<T>): Promise<T | undefined> {
    try {
      return await require(method, ask)
    } catch (error) {
      if (isMethodMissing(error)) return undefined
      throw error
    }
  }

  return { lacks, learn, require, attempt }
}
