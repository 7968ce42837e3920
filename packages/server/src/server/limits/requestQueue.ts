/** Begins requests one after the other, so that other work of the event loop runs between them. */
export interface RequestQueue {
  /** Counts a request that came, also one that will be refused. */
  arrived(): void
  /**
   * @param caller - whose request it is: callers with requests in the queue begin one each in turn.
   * @param had - turns that it has had already. After the first ones it comes before the others of its caller, so that few of them
   *   are under way at a time; then behind them.
   * @returns nothing for a request that may begin at once, else a promise that resolves when it may.
   */
  enter(caller: string, had?: number): Promise<undefined> | undefined
  /** Returns how long a request that entered now would wait; without a caller, how long one would if all were of one caller. */
  expectedWaitMs(caller?: string): number
  /** Returns whether a caller had at least as many turns lately as callers had on average. */
  isHeavy(caller: string): boolean
}

/** The requests of one round of the event loop are begun within this time. */
const roundMs = 1
/** So many turns one request takes one after the other: what one page needs. */
const turnsTogether = 4
/** From this wait on, arriving requests are read before more are begun. */
const busyFromMs = 20
/** Time of one request, until it is measured. */
const firstTurnMs = 0.5
const smoothing = 0.1
/** Time for which turns are counted; those of the time before count too. */
const countedMs = 1_000

/** Runs a function once all that is due before the next event has run: promises settle before the next tick does. */
function afterMicrotasks(run: () => void): void {
  queueMicrotask(() => process.nextTick(run))
}

/** A request that waits. */
interface Waiting {
  readonly begin: () => void
  readonly cameMs: number
  /** It has begun, and comes before those that have not. */
  readonly goesOn: boolean
}

/**
 * A queue that begins about a millisecond's worth of requests in each round of the event loop: of each caller in turn, and of one caller in
 * their order. So whoever has few requests waits for few of the others', however many one caller sends.
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
  /** By caller; the one whose turn comes next is first. */
  const waiting = new Map<string, Waiting[]>()
  let size = 0
  /** Turns by caller, now and in the time before. */
  let begunNow = new Map<string, number>()
  let begunBefore = new Map<string, number>()
  let countedFromMs = now()
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
    enter(caller, had = 0) {
      const atMs = now()
      count(caller, atMs)
      if (roundBeganMs === undefined) beginRound(atMs)
      else if (size > 0 || atMs - roundBeganMs >= roundMs) {
        return new Promise<undefined>(resolve => {
          const line = waiting.get(caller) ?? []
          const goesOn = had > 0 && had < turnsTogether
          const next = { begin: () => resolve(undefined), cameMs: atMs, goesOn }
          if (goesOn) line.unshift(next)
          else line.push(next)
          waiting.set(caller, line)
          size++
        })
      }
      begun++
      return undefined
    },
    expectedWaitMs(caller) {
      if (size === 0) return 0
      if (caller === undefined) {
        const waits = [...waiting.values()].map(oldestWaitMs)
        return Math.max(size * turnMs, ...waits)
      }
      const own = waiting.get(caller)
      const ahead = (own?.length ?? 0) + 1
      let turns = 0
      for (const line of waiting.values()) turns += Math.min(line.length, ahead)
      return Math.max(turns * turnMs, oldestWaitMs(own))
    },
    isHeavy(caller) {
      const countOf = (one: string) => (begunNow.get(one) ?? 0) + (begunBefore.get(one) ?? 0)
      const callers = new Set([...begunNow.keys(), ...begunBefore.keys()])
      let all = 0
      for (const one of callers) all += countOf(one)
      return countOf(caller) * callers.size >= all
    }
  }

  function count(caller: string, atMs: number): void {
    if (atMs - countedFromMs >= countedMs) {
      begunBefore = atMs - countedFromMs >= 2 * countedMs ? new Map() : begunNow
      begunNow = new Map()
      countedFromMs = atMs
    }
    begunNow.set(caller, (begunNow.get(caller) ?? 0) + 1)
  }

  /** Shows at once that turns take longer than they did. */
  function oldestWaitMs(line: readonly Waiting[] | undefined): number {
    const first = line?.find(({ goesOn }) => !goesOn)
    return first === undefined ? 0 : now() - first.cameMs
  }

  /** Takes the first request of the caller whose turn it is, who comes last then. */
  function takeNext(): Waiting | undefined {
    for (const [caller, line] of waiting) {
      waiting.delete(caller)
      const next = line.shift()
      if (line.length > 0) waiting.set(caller, line)
      if (next === undefined) continue
      size--
      return next
    }
    return undefined
  }

  function beginRound(atMs: number): void {
    roundBeganMs = atMs
    begun = 0
    defer(nextRound)
  }

  function nextRound(): void {
    const atMs = now()
    if (size === 0) {
      roundBeganMs = undefined
      return
    }
    if (arrivals > 0 && size * turnMs > busyFromMs) {
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
    beginNext()
  }

  /** Begins the next request, and others once it has done what it could at once, until the round is over. */
  function beginNext(): void {
    const next = takeNext()
    if (next === undefined) return
    next.begin()
    begun++
    afterMicrotasks(() => {
      if (roundBeganMs !== undefined && now() - roundBeganMs < roundMs) beginNext()
    })
  }
}
