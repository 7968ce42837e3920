import { NodeRpcError } from '../../platform/errors.ts'

/** Remembers which methods a node lacks, so that each is asked for in vain only once in a while. One per upstream. */
export interface Capabilities {
  /**
   * Runs `ask`, which calls `method`, unless the node is known to lack it.
   * @returns `undefined` when the node lacks the method.
   * @throws whatever `ask` throws for another reason.
   */
  attempt<T>(method: string, ask: () => Promise<T>): Promise<T | undefined>
  /** Whether `attempt` would not ask now. */
  lacks(method: string): boolean
}

/** A node may be upgraded: what is missing is asked for again after this time. */
const forgetAfterMs = 10 * 60_000
/** A method that has worked before is more likely to be missing for a moment only, or behind a balancer of several. */
const forgetKnownAfterMs = 5_000

export function createCapabilities(): Capabilities {
  const missingSince = new Map<string, number>()
  const known = new Set<string>()

  function lacks(method: string): boolean {
    const since = missingSince.get(method)
    const patienceMs = known.has(method) ? forgetKnownAfterMs : forgetAfterMs
    return since !== undefined && Date.now() - since < patienceMs
  }

  return {
    lacks,
    async attempt(method, ask) {
      if (lacks(method)) return undefined
      try {
        const value = await ask()
        missingSince.delete(method)
        known.add(method)
        return value
      } catch (error) {
        if (!isMethodMissing(error)) throw error
        missingSince.set(method, Date.now())
        return undefined
      }
    }
  }
}

/**
 * Whether the node said that it has no such method. Nodes use -32601 (JSON-RPC), -32004 (EIP-1474) or -32700, or
 * another code with a message that says so.
 */
export function isMethodMissing(error: unknown): boolean {
  if (!(error instanceof NodeRpcError)) return false
  if ([-32601, -32004, -32700].includes(error.rpcCode)) return true
  return /method.*(not (found|supported|available|allowed|exist|enabled|whitelisted|implemented)|unsupported|disabled)|unsupported method|unknown method/i.test(
    error.message
  )
}
