import type { Random } from '../../../devnet/src/platform/createRandom.ts'

/** Ends works under way, one at a time or several at once, in an order that only the random numbers decide. */
export function createScheduler(random: Random) {
  const waiting: (() => void)[] = []
  let isAtWork = false

  async function endAll(): Promise<void> {
    isAtWork = true
    while (waiting.length > 0) {
      // Whatever follows from the last one is begun first, or only some of it.
      if (random.below(2) === 0) await new Promise(resolve => setImmediate(resolve))
      else for (let hops = random.below(12); hops > 0; hops--) await undefined
      const [next] = waiting.splice(random.below(waiting.length), 1)
      next?.()
    }
    isAtWork = false
  }

  return {
    /** Ends with what `work` returns or throws, after some of the works that are under way. */
    run<T>(work: () => T | Promise<T>): Promise<T> {
      return new Promise((resolve, reject) => {
        waiting.push(() => {
          void Promise.resolve().then(work).then(resolve, reject)
        })
        if (!isAtWork) void endAll()
      })
    }
  }
}
