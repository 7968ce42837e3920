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
 * @remarks While there is little to do every request begins at once.
 */
export class RequestQueue {
  readonly #now: () => number
  readonly #defer: (run: () => void) => void
  /** By caller; the one whose turn comes next is first. */
  readonly #waiting = new Map<string, Waiting[]>()
  #size = 0
  /** Turns by caller, now and in the time before. */
  #begunNow = new Map<string, number>()
  #begunBefore = new Map<string, number>()
  #countedFromMs: number
  #roundBeganMs: number | undefined
  #begun = 0
  #arrivals = 0
  #listeningFromMs: number | undefined
  /** Time between two requests that begin while others wait; what else the process does is in it. */
  #turnMs = firstTurnMs

  /** @param defer - runs a function in the next round. */
  constructor(now = () => performance.now(), defer: (run: () => void) => void = setImmediate) {
    this.#now = now
    this.#defer = defer
    this.#countedFromMs = now()
  }

  /** Counts a request that came, also one that will be refused. */
  arrived(): void {
    this.#arrivals++
  }

  /**
   * @param caller - whose request it is: callers with requests in the queue begin one each in turn.
   * @param had - turns that it has had already. After the first ones it comes before the others of its caller, so that few of them
   *   are under way at a time; then behind them.
   * @returns nothing for a request that may begin at once, else a promise that resolves when it may.
   */
  enter(caller: string, had = 0): Promise<undefined> | undefined {
    const atMs = this.#now()
    this.#count(caller, atMs)
    if (this.#roundBeganMs === undefined) this.#beginRound(atMs)
    else if (this.#size > 0 || atMs - this.#roundBeganMs >= roundMs) {
      return new Promise<undefined>(resolve => {
        const line = this.#waiting.get(caller) ?? []
        const goesOn = had > 0 && had < turnsTogether
        const next = { begin: () => resolve(undefined), cameMs: atMs, goesOn }
        if (goesOn) line.unshift(next)
        else line.push(next)
        this.#waiting.set(caller, line)
        this.#size++
      })
    }
    this.#begun++
    return undefined
  }

  /** Returns how long a request that entered now would wait; without a caller, how long one would if all were of one caller. */
  expectedWaitMs(caller?: string): number {
    if (this.#size === 0) return 0
    if (caller === undefined) {
      const waits = [...this.#waiting.values()].map(line => this.#oldestWaitMs(line))
      return Math.max(this.#size * this.#turnMs, ...waits)
    }
    const own = this.#waiting.get(caller)
    const ahead = (own?.length ?? 0) + 1
    let turns = 0
    for (const line of this.#waiting.values()) turns += Math.min(line.length, ahead)
    return Math.max(turns * this.#turnMs, this.#oldestWaitMs(own))
  }

  /** Returns whether a caller had at least as many turns lately as callers had on average. */
  isHeavy(caller: string): boolean {
    const countOf = (one: string) => (this.#begunNow.get(one) ?? 0) + (this.#begunBefore.get(one) ?? 0)
    const callers = new Set([...this.#begunNow.keys(), ...this.#begunBefore.keys()])
    let all = 0
    for (const one of callers) all += countOf(one)
    return countOf(caller) * callers.size >= all
  }

  #count(caller: string, atMs: number): void {
    if (atMs - this.#countedFromMs >= countedMs) {
      this.#begunBefore = atMs - this.#countedFromMs >= 2 * countedMs ? new Map() : this.#begunNow
      this.#begunNow = new Map()
      this.#countedFromMs = atMs
    }
    this.#begunNow.set(caller, (this.#begunNow.get(caller) ?? 0) + 1)
  }

  /** Shows at once that turns take longer than they did. */
  #oldestWaitMs(line: readonly Waiting[] | undefined): number {
    const first = line?.find(({ goesOn }) => !goesOn)
    return first === undefined ? 0 : this.#now() - first.cameMs
  }

  /** Takes the first request of the caller whose turn it is, who comes last then. */
  #takeNext(): Waiting | undefined {
    for (const [caller, line] of this.#waiting) {
      this.#waiting.delete(caller)
      const next = line.shift()
      if (line.length > 0) this.#waiting.set(caller, line)
      if (next === undefined) continue
      this.#size--
      return next
    }
    return undefined
  }

  #beginRound(atMs: number): void {
    this.#roundBeganMs = atMs
    this.#begun = 0
    this.#defer(() => this.#nextRound())
  }

  #nextRound(): void {
    const atMs = this.#now()
    if (this.#size === 0) {
      this.#roundBeganMs = undefined
      return
    }
    if (this.#arrivals > 0 && this.#size * this.#turnMs > busyFromMs) {
      this.#arrivals = 0
      this.#listeningFromMs ??= atMs
      if (atMs - this.#listeningFromMs < roundMs) {
        this.#defer(() => this.#nextRound())
        return
      }
    }
    this.#listeningFromMs = undefined
    if (this.#roundBeganMs !== undefined && this.#begun > 0) {
      this.#turnMs += smoothing * ((atMs - this.#roundBeganMs) / this.#begun - this.#turnMs)
    }
    this.#beginRound(atMs)
    this.#beginNext()
  }

  /** Begins the next request, and others once it has done what it could at once, until the round is over. */
  #beginNext(): void {
    const next = this.#takeNext()
    if (next === undefined) return
    next.begin()
    this.#begun++
    afterMicrotasks(() => {
      if (this.#roundBeganMs !== undefined && this.#now() - this.#roundBeganMs < roundMs) this.#beginNext()
    })
  }
}
