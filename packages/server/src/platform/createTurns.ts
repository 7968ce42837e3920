import { setImmediate as nextTurn } from 'node:timers/promises'

const sliceMs = 5

/**
 * Keeps a long loop from holding up the thread: `await turn()` between two steps lets other work go first once the loop
 * has run for 5 milliseconds.
 */
export function createTurns(): () => Promise<void> {
  let sinceMs = performance.now()
  return async () => {
    if (performance.now() - sinceMs < sliceMs) return
    await nextTurn()
    sinceMs = performance.now()
  }
}
