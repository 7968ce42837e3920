/** Begins requests one after the other, so that other work of the event loop runs between them. */
export interface RequestQueue {
  /** Counts a request that came, also one that will be refused. */
  arrived(): void
  /** @returns nothing for a request that may begin at once, else a promise that resolves when it may. */
  enter(): Promise<undefined> | undefined
  /** Returns how long a request that entered now would wait. */
  expectedWaitMs(): number
}

/** The requests of one round of the event loop are begun within this time. */
const roundMs = 1
/** From this wait on, arriving requests are read before more are begun. */
const busyFromMs = 20
/** Time of one request, until it is measured. */
const firstTurnMs = 0.5
const smoothing = 0.1

/**
 * A first-in, first-out queue that begins about a millisecond's worth of requests in each round of the event loop.
 *
 * Without it every request that came is begun in the round that reads it. A round then lasts as long as they all take;
 * new connections, of which node:http accepts one in a round, the refusals and the health pages wait for it; and nothing
 * shows how long the queue is, because it is in the sockets.
 *
 * Where requests are slow, a round is one of them, and connections would be accepted no faster than requests are answered. So
 * while the queue is long, rounds in which nothing is begun follow each other as long as each brings a request, for a
 * millisecond at most.
 *
 * @param defer - runs a function in the next round.
 * @remarks While there is little to do every request begins at once.
 */
export function createRequestQueue(
  now = () => performance.now(),
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
      const atMs = now()
      if (roundBeganMs === undefined) beginRound(atMs)
      else if (waiting.size > 0 || atMs - roundBeganMs >= roundMs) {
        return new Promise<undefined>(resolve => waiting.set(() => resolve(undefined), atMs))
      }
      begun++
      return undefined
    },
    expectedWaitMs: () => Math.max(waiting.size * turnMs, oldestWaitMs())
  }

  /** Shows at once that turns take longer than they did. */
  function oldestWaitMs(): number {
    for (const cameMs of waiting.values()) return now() - cameMs
    return 0
  }

  function beginRound(atMs: number): void {
    roundBeganMs = atMs
    begun = 0
    defer(nextRound)
  }

  function nextRound(): void {
    const atMs = now()
    if (waiting.size === 0) {
      roundBeganMs = undefined
      return
    }
    if (arrivals > 0 && waiting.size * turnMs > busyFromMs) {
      arrivals = 0
      listeningFromMs ??= atMs
      if (atMs - listeningFromMs < roundMs) {
        defer(nextRound)
        return
      }
    }
    listeningFromMs = undefined
    if (roundBeganMs !== undefined && begun > 0) {
      turnMs += smoothing * ((atMs - roundBeganMs) / begun - turnMs)
    }
    beginRound(atMs)
    // What a request does happens after this function, so the time that some will take is known from others only.
    const most = Math.max(1, Math.floor(roundMs / turnMs))
    for (const begin of waiting.keys()) {
      waiting.delete(begin)
      begin()
      if (++begun >= most) break
    }
  }
}
