/** Work in pieces that waits for a pause. */
export interface IdleWork {
  /** Something else is going on: the pause begins anew. */
  postpone(): void
  /** For good: whoever was still at something else may postpone afterwards. */
  stop(): void
}

/** Of the time, so much is left to others while there is work: each piece blocks the thread and writes to the disk. */
const restPerPiece = 4

/**
 * Does work once nothing else has been going on for a while, until nothing is left or something else comes. It keeps no process
 * alive.
 * @param step - does one piece; false when there was nothing to do. What it throws ends the work until the next `postpone`.
 * @param afterMs - how long the pause has to be; null: nothing is ever done.
 */
export function createIdleWork(
  step: () => boolean,
  afterMs: number | null,
  onError: (error: unknown) => void
): IdleWork {
  let timer: NodeJS.Timeout | undefined
  let isStopped = false

  const work = () => {
    const startedMs = performance.now()
    try {
      if (!step()) return
    } catch (error) {
      onError(error)
      return
    }
    timer = setTimeout(work, restPerPiece * (performance.now() - startedMs)).unref()
  }

  return {
    postpone() {
      clearTimeout(timer)
      if (afterMs !== null && !isStopped) timer = setTimeout(work, afterMs).unref()
    },
    stop() {
      isStopped = true
      clearTimeout(timer)
    }
  }
}
