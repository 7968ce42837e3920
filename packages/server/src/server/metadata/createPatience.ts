/** How long one call waits, for all it wants together. */
export interface Patience {
  /** @returns absent once the patience is over; `work` goes on and must not reject. */
  until<T>(work: Promise<T | undefined>): Promise<T | undefined>
  isOver(): boolean
  /** To be called when nothing more is waited for. */
  end(): void
}

/**
 * @param signal - ends it at once.
 * @param budgetMs - ends it after so long; absent: never.
 * @remarks One listener for any number of works: a signal takes longer for each further one.
 */
export function createPatience(signal?: AbortSignal, budgetMs?: number): Patience {
  const waiting = new Set<() => void>()
  let isOver = false
  // One turn later, so that what is there already is given out even when no time is left.
  const giveUp = () => {
    for (const each of waiting) each()
    waiting.clear()
  }
  const stop = () => {
    isOver = true
    setImmediate(giveUp)
  }
  const timer = budgetMs === undefined ? undefined : setTimeout(stop, budgetMs)
  if (signal?.aborted) stop()
  signal?.addEventListener('abort', stop, { once: true })

  return {
    until<T>(work: Promise<T | undefined>) {
      return new Promise<T | undefined>((resolve, reject) => {
        const leave = () => resolve(undefined)
        waiting.add(leave)
        if (isOver) setImmediate(giveUp)
        work.then(resolve, reject).finally(() => waiting.delete(leave))
      })
    },
    isOver: () => isOver,
    end() {
      clearTimeout(timer)
      signal?.removeEventListener('abort', stop)
    }
  }
}
