/** Work that is done in pieces while nothing else runs. */
export interface IdleWork {
  /** Starts the pause anew: something else is running. */
  postpone(): void
  /** Stops for good; a later `postpone` does nothing. */
  stop(): void
}

/** Pause after each piece, as a multiple of its time: a piece keeps others waiting and writes to the disk. */
const restPerPiece = 4

/**
 * Does work once nothing else has run for a while, until none is left or something else runs. It does not keep the process
 * alive.
 * @param step - does one piece; false when there was nothing to do. What it throws ends the work until the next `postpone`.
 * @param afterMs - how long the pause has to be; null: no work is ever done.
 */
export function createIdleWork(
  step: () => Promise<boolean>,
  afterMs: number | null,
  onError: (error: unknown) => void
): IdleWork {
  let timer: NodeJS.Timeout | undefined
  let isStopped = false
  /** Counts the calls of `postpone`. */
  let pauses = 0

  const work = async (pause: number) => {
    const startedMs = performance.now()
    try {
      if (!(await step())) return
    } catch (error) {
      if (!isStopped) onError(error)
      return
    }
    if (pause !== pauses || isStopped) return
    timer = setTimeout(work, restPerPiece * (performance.now() - startedMs), pause).unref()
  }

  return {
    postpone() {
      clearTimeout(timer)
      pauses++
      if (afterMs !== null && !isStopped) timer = setTimeout(work, afterMs, pauses).unref()
    },
    stop() {
      isStopped = true
      clearTimeout(timer)
    }
  }
}
