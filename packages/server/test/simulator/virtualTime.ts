import files from 'node:fs'
import filePromises from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import timerPromises from 'node:timers/promises'

/** The clocks of one simulation. They stand still while code runs, and move when everything waits. */
export interface VirtualTime {
  /** Milliseconds since the simulation began; also what `performance.now()` returns to the simulated server. */
  nowMs(): number
  /** Waits on behalf of the simulation: the death of the server does not end it. */
  sleep(ms: number): Promise<void>
  /** Lets time pass for a thread that is blocked, in a slow disk call for one. */
  block(ms: number): void
  /** Moves the machine's clock, which `Date.now()` reads. */
  moveClock(ms: number): void
  /** Forgets all timers of the simulated server, and takes none of it until `revive`. */
  kill(): void
  revive(): void
}

interface Timer {
  readonly dueMs: number
  readonly order: number
  readonly ofServer: boolean
  readonly run: () => void
}

/** 2023-11-14, as the test chains have it. */
const firstMs = 1_700_000_000_000
/** A simulation that runs for so long does not end. */
const longestMs = 3 * 3_600_000

/**
 * Runs `main` with virtual time: timers, clocks and `Math.random` of this process are replaced until it ends, and calls of
 * the file system that would end at some other moment of real time are made at once. Nothing that runs meanwhile can tell two
 * runs with the same `random` apart.
 *
 * @throws when everything waits for something that never happens, and what `main` throws.
 */
export async function inVirtualTime<T>(
  random: () => number,
  main: (time: VirtualTime) => Promise<T>
): Promise<T> {
  const timers = new Map<number, Timer>()
  const ready: { readonly ofServer: boolean; readonly run: () => void }[] = []
  let nowMs = 0
  let clockMs = firstMs
  let order = 0
  let takesTimers = true

  function set(ofServer: boolean, ms: number, run: () => void): number {
    const id = ++order
    if (ofServer && !takesTimers) return id
    const waitMs = Number.isFinite(ms) && ms > 1 ? ms : 1
    timers.set(id, { dueMs: nowMs + waitMs, order: id, ofServer, run })
    return id
  }

  const time: VirtualTime = {
    nowMs: () => nowMs,
    sleep: ms => new Promise(resolve => void set(false, ms, resolve)),
    block(ms) {
      nowMs += ms
    },
    moveClock(ms) {
      clockMs += ms
    },
    kill() {
      takesTimers = false
      for (const [id, { ofServer }] of timers) if (ofServer) timers.delete(id)
      ready.splice(0, ready.length, ...ready.filter(({ ofServer }) => !ofServer))
    },
    revive() {
      takesTimers = true
    }
  }

  /** What waits for nothing but time. */
  function nextTimer(): Timer {
    let next: Timer | undefined
    for (const timer of timers.values()) if (next === undefined || isSooner(timer, next)) next = timer
    if (next === undefined) throw new Error('everything waits, and nothing will ever happen')
    timers.delete(next.order)
    nowMs = Math.max(nowMs, next.dueMs)
    if (nowMs > longestMs) throw new Error('the simulation does not end')
    return next
  }

  const restore = replaceTime({
    now: () => nowMs,
    wallClock: () => clockMs + Math.floor(nowMs),
    random,
    setTimer: (ms, run) => set(true, ms, run),
    clearTimer: id => void timers.delete(id),
    soon(run) {
      if (takesTimers) ready.push({ ofServer: true, run })
    }
  })
  try {
    let outcome: { readonly value: T } | { readonly error: unknown } | undefined
    main(time).then(
      value => {
        outcome = { value }
      },
      (error: unknown) => {
        outcome = { error }
      }
    )
    for (;;) {
      await allSettled()
      if (outcome !== undefined) break
      const next = ready.shift() ?? nextTimer()
      next.run()
    }
    if ('error' in outcome) throw outcome.error
    return outcome.value
  } finally {
    restore()
  }
}

function isSooner(a: Timer, b: Timer): boolean {
  return a.dueMs === b.dueMs ? a.order < b.order : a.dueMs < b.dueMs
}

/** Returns once no promise has anything left to run: ticks come after all of them. */
function allSettled(): Promise<void> {
  return new Promise(resolve => process.nextTick(resolve))
}

interface TimeSource {
  now(): number
  wallClock(): number
  random(): number
  setTimer(ms: number, run: () => void): number
  clearTimer(id: number): void
  soon(run: () => void): void
}

/** Handle of a timer, as far as code here uses one. */
interface TimerHandle {
  unref(): TimerHandle
  ref(): TimerHandle
}

/** @returns puts back what was there. */
function replaceTime(source: TimeSource): () => void {
  const ids = new WeakMap<object, number>()
  const handle = (id: number): TimerHandle => {
    const made: TimerHandle = { unref: () => made, ref: () => made }
    ids.set(made, id)
    return made
  }
  const clear = (made: object | undefined) => {
    const id = made === undefined ? undefined : ids.get(made)
    if (id !== undefined) source.clearTimer(id)
  }
  const repeat = (run: () => void, ms: number) => {
    const made = handle(0)
    const again = () => {
      ids.set(made, source.setTimer(ms, again))
      run()
    }
    ids.set(made, source.setTimer(ms, again))
    return made
  }
  const sleep = (ms: number, value?: unknown, { signal }: { readonly signal?: AbortSignal } = {}) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason)
      const abort = () => {
        source.clearTimer(id)
        reject(signal?.reason)
      }
      const id = source.setTimer(ms, () => {
        signal?.removeEventListener('abort', abort)
        resolve(value)
      })
      signal?.addEventListener('abort', abort, { once: true })
    })

  const undo = [
    replace(globalThis, {
      setTimeout: (run: () => void, ms = 1) => handle(source.setTimer(ms, run)),
      clearTimeout: clear,
      setInterval: repeat,
      clearInterval: clear,
      setImmediate: (run: () => void) => source.soon(run)
    }),
    replace(Date, { now: source.wallClock }),
    replace(performance, { now: source.now }),
    replace(Math, { random: source.random }),
    replace(timerPromises, {
      setTimeout: sleep,
      setImmediate: (value?: unknown) => new Promise(resolve => source.soon(() => resolve(value)))
    }),
    replace(filePromises, {
      rm: async (path: string, options: files.RmOptions) => files.rmSync(path, options),
      rename: async (from: string, to: string) => files.renameSync(from, to),
      mkdir: async (path: string) => files.mkdirSync(path),
      stat: async (path: string) => files.statSync(path)
    })
  ]
  syncBuiltinESMExports()
  return () => {
    for (const putBack of undo) putBack()
    syncBuiltinESMExports()
  }
}

function replace(owner: object, members: Readonly<Record<string, unknown>>): () => void {
  const before = Object.keys(members).map(
    name => [name, Object.getOwnPropertyDescriptor(owner, name)] as const
  )
  for (const [name, value] of Object.entries(members)) {
    Object.defineProperty(owner, name, { value, configurable: true, writable: true, enumerable: true })
  }
  return () => {
    for (const [name, descriptor] of before) {
      if (descriptor === undefined) Reflect.deleteProperty(owner, name)
      else Object.defineProperty(owner, name, descriptor)
    }
  }
}
