import type { WaivableCheck, Waiver } from '../../../model/waivableChecks.ts'
import type { Logger } from '../../../platform/logger.ts'

/** The strict checks that one chain is allowed to break. */
export interface Waivers {
  /** Whether a block may break this check. Asked only where it does: a yes is noted as a use. */
  passes(check: WaivableCheck, blockNumber: number): boolean
}

/** Every check is insisted on. */
export const noWaivers: Waivers = { passes: () => false }

/**
 * The waivers of one chain's configuration.
 * @param logger - is told of the first use of each check in this run, so that an operator sees which ones the chain
 *   really needs, and at debug of every further one with the count so far. A block read twice is counted twice.
 */
export function createWaivers(list: readonly Waiver[], logger?: Logger): Waivers {
  const uses = new Map<WaivableCheck, number>()
  return {
    passes(check, blockNumber) {
      const waiver = list.find(
        ({ check: name, fromBlock = 0, toBlock }) =>
          name === check && blockNumber >= fromBlock && blockNumber <= (toBlock ?? Number.MAX_SAFE_INTEGER)
      )
      if (waiver === undefined) return false
      const count = (uses.get(check) ?? 0) + 1
      uses.set(check, count)
      const fields = { blockNumber, reason: waiver.reason, count }
      if (count === 1) logger?.info(`the waiver ${check} is needed`, fields)
      else logger?.debug(`the waiver ${check} is used`, fields)
      return true
    }
  }
}
