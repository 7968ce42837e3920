import { type Clock, steadyClock } from '../../platform/clock.ts'

/** Lets requests begin one after the other, so that between them everything else has its turn. */
export interface RequestQueue {
  /** Tells of a request that came, also of one that will be refused. */
  arrived(): void
  /** @returns nothing for a request that may begin at once, else what resolves when its turn has come. */
  enter(): Promise<undefined> | undefined
  /** How long a request that entered now would wait. */
  expectedWaitMs(): number
}

/** The requests of one round of the event loop are begun within so long. */
const roundMs = 1
/** From this wait on, what comes is heard before more is begun. */
const busyFromMs = 20
/** Until it is measured. */
const firstTurnMs = 0.5
const smoothing = 0.1

/**
 * A first-in, first-out queue that begins about a millisecond's worth of requests in each round of the event loop.
 *
 * Without it every request that came is begun in the round that reads it. A round then lasts as long as they all take;
 * new connections, of which node:http accepts one in a round, the refusals and the health pages wait for it; and nothing
 * tells how long the queue is, because it is in the sockets.
 *
 * Where requests are slow, a round is one of them, and connections would be accepted no faster than requests are answered. So
 * while the queue is long, rounds in which nothing is begun follow each other as long as each brings a request, for a
 * millisecond at most.
 *
 * @param defer - runs a function in the next round; absent: `setImmediate`.
 * @remarks While there is little to do every request begins at once.
 */
export function createRequestQueue(
  clock: Clock = steadyClock,
  defer: (run: () => void) => void = setImmediate
): RequestQueue {
  /** With the moment at which each one came. */
  const waiting = new Map<() => void, number>()
  let roundBeganMs: number | undefined
  let begun = 0
  let arrivals = 0
  let listeningFromMs: number | undefined
  /** Time between two requests that begin while others wait; what else the process does is in it. */
  let turnMs = firstTurnMs

  return {
    arrived() {
      arrivals++
    },
    enter() {
      const now = clock.now()
      if (roundBeganMs === undefined) beginRound(now)
      else if (waiting.size > 0 || now - roundBeganMs >= roundMs) {
        return new Promise<undefined>(resolve => waiting.set(() => resolve(undefined), now))
      }
      begun++
      return undefined
    },
    expectedWaitMs: () => Math.max(waiting.size * turnMs, oldestWaitMs())
  }

  /** Shows at once that turns take longer than they did. */
  function oldestWaitMs(): number {
    for (const cameMs of waiting.values()) return clock.now() - cameMs
    return 0
  }

  function beginRound(now: number): void {
    roundBeganMs = now
    begun = 0
    defer(nextRound)
  }

  function nextRound(): void {
    const now = clock.now()
    if (waiting.size === 0) {
      roundBeganMs = undefined
      return
    }
    if (arrivals > 0 && waiting.size * turnMs > busyFromMs) {
      arrivals = 0
      listeningFromMs ??= now
      if (now - listeningFromMs < roundMs) {
        defer(nextRound)
        return
      }
    }
    listeningFromMs = undefined
    if (roundBeganMs !== undefined && begun > 0) {
      turnMs += smoothing * ((now - roundBeganMs) / begun - turnMs)
    }
    beginRound(now)
    // What a request does happens after this function, so the time that some will take is known from others only.
    const most = Math.max(1, Math.floor(roundMs / turnMs))
    for (const begin of waiting.keys()) {
      waiting.delete(begin)
      begin()
      if (++begun >= most) break
    }
  }
}
