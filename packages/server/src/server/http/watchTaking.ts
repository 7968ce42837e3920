import type { ServerResponse } from 'node:http'

/** What a writer tells while it hands on an answer. */
export interface TakingWatch {
  /** A part was written: it is the caller's turn to take it. */
  given(): void
  /** Everything written is on its way to the caller. */
  taken(): void
}

/**
 * Cuts the connection of a caller who takes nothing of its answer for `idleMs`, whatever it sends meanwhile.
 *
 * @remarks The time runs only while it is this answer's turn: one that waits behind another on its connection is not
 *   late. (The time-outs of node:net begin anew with every byte received, and where a write was under way last no less
 *   than twice their time.)
 */
export function watchTaking(response: ServerResponse, idleMs: number): TakingWatch {
  let isWaiting = false
  let timer: NodeJS.Timeout | undefined
  const stop = () => {
    isWaiting = false
    clearTimeout(timer)
  }
  const start = () => {
    clearTimeout(timer)
    if (isWaiting && response.socket !== null) timer = setTimeout(() => response.destroy(), idleMs)
  }
  response.once('socket', start).once('finish', stop).once('close', stop)
  return {
    given() {
      isWaiting = true
      start()
    },
    taken: stop
  }
}
