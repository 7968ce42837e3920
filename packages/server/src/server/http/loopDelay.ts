import { type Clock, steadyClock } from '../../platform/clock.ts'

/** How long requests wait until this process comes to them. */
export interface LoopDelay {
  /** How late the timers are, in milliseconds: now, or in the last round of the event loop. */
  current(): number
  /**
   * The delay that has lasted for more than one round of the event loop, so that one long garbage collection counts as
   * nothing; a delay of more than `alwaysMs` counts in its first round already, with what it is longer.
   */
  lasting(alwaysMs: number): number
  stop(): void
}

const tickMs = 20

/**
 * Measures how late a timer fires. In a round of the event loop every socket with something to read has its turn, so
 * that a request has waited for about as long as the round has lasted when its turn comes, and the timer with it.
 *
 * @param every - runs a function again and again; absent: every 20 ms, without keeping the process alive.
 * @remarks Reading it costs one look at the clock.
 */
export function watchLoopDelay(
  clock: Clock = steadyClock,
  every: (tick: () => void, ms: number) => { stop(): void } = onTimer
): LoopDelay {
  let lastTickMs = clock.now()
  let last = 0
  let beforeLast = 0
  const overdue = () => Math.max(0, clock.now() - lastTickMs - tickMs)
  const timer = every(() => {
    beforeLast = last
    last = overdue()
    lastTickMs = clock.now()
  }, tickMs)
  return {
    current: () => Math.max(overdue(), last),
    lasting(alwaysMs) {
      const now = overdue()
      return Math.max(Math.min(last, beforeLast), Math.min(now, last), now - alwaysMs)
    },
    stop: timer.stop
  }
}

function onTimer(tick: () => void, ms: number): { stop(): void } {
  const timer = setInterval(tick, ms)
  timer.unref()
  return { stop: () => clearInterval(timer) }
}
