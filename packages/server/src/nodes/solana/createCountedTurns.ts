import { setImmediate as nextTurn } from 'node:timers/promises'

/** Counts small steps of one long piece of work and lets other work in between. */
export interface CountedTurns {
  /**
   * Call after every step.
   * @returns a promise to await when other work is due, else `undefined`: most steps cost a comparison.
   */
  step(): Promise<void> | undefined
}

/**
 * @param stepsPerTurn - steps between two turns of others. Counted, not timed: the same work always pauses at the
 *   same places.
 */
export function createCountedTurns(stepsPerTurn: number): CountedTurns {
  let left = stepsPerTurn
  return {
    step() {
      left--
      if (left > 0) return undefined
      left = stepsPerTurn
      return nextTurn()
    }
  }
}
