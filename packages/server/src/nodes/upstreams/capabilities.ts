import { NodeRpcError } from '../../platform/errors.ts'
import { isMethodMissing } from './errorWords.ts'

/** Remembers which methods one upstream lacks, so that each is asked for in vain only now and then. */
export interface Capabilities {
  /** Reports whether the upstream is known to lack `method`. */
  lacks(method: string): boolean
  /** Runs `ask`, which calls `method`, and remembers whether the upstream has it. @throws whatever `ask` throws. */
  learn<T>(method: string, ask: () => Promise<T>): Promise<T>
  /**
   * Runs `ask` like `learn`, but not while the method is known to be missing.
   * @throws {NodeRpcError} the upstream lacks the method.
   */
  require<T>(method: string, ask: () => Promise<T>): Promise<T>
  /**
   * Runs `ask` like `require`.
   * @returns `undefined` when the upstream lacks the method.
   */
  attempt<T>(method: string, ask: () => Promise<T>): Promise<T | undefined>
}

/** A node may be upgraded, or given a right: a missing method is asked for again after this time. */
const forgetAfterMs = 10 * 60_000
/** A method that has worked before is more likely to be missing for a moment only, or at one of several nodes behind a balancer. */
const forgetKnownAfterMs = 5_000

/** @param name - of the upstream, for messages. */
export function createCapabilities(name: string): Capabilities {
  const missingSince = new Map<string, number>()
  const known = new Set<string>()

  function lacks(method: string): boolean {
    const since = missingSince.get(method)
    const forgetMs = known.has(method) ? forgetKnownAfterMs : forgetAfterMs
    return since !== undefined && Date.now() - since < forgetMs
  }

  async function learn<T>(method: string, ask: () => Promise<T>): Promise<T> {
    try {
      const value = await ask()
      missingSince.delete(method)
      known.add(method)
      return value
    } catch (error) {
      if (isMethodMissing(error)) missingSince.set(method, Date.now())
      throw error
    }
  }

  async function require<T>(method: string, ask: () => Promise<T>): Promise<T> {
    if (!lacks(method)) return learn(method, ask)
    throw new NodeRpcError(`${name} does not serve ${method} (error -32601)`, -32601, undefined)
  }

  return {
    lacks,
    learn,
    require,
    attempt: (method, ask) =>
      require(method, ask).catch((error: unknown) => {
        if (isMethodMissing(error)) return undefined
        throw error
      })
  }
}
