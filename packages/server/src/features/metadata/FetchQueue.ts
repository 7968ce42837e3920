import type { MetadataError } from '../../platform/errors.ts'
import { metadataFailure } from './metadataFailure.ts'

export interface FetchQueueLimits {
  /** Tasks at once. */
  readonly total: number
  readonly perHost: number
  /** Queued tasks; above it the line with most of them loses its newest one. */
  readonly waiting: number
  /** A task queued for longer is refused when it could start: its callers have gone long ago. */
  readonly patienceMs: number
}

/** One caller's queue; callers only hand it back. */
export interface Line {
  readonly hosts: Map<string, Task[]>
  waiting: number
  running: number
}

/** Several tasks for one purpose, each queued in the lines of all callers who want it. */
export interface Work {
  /** Adds a caller: queued tasks may now also start when that line comes next. */
  alsoFor(line: Line): void
  /**
   * Runs `start` when there is room.
   * @param signal - takes the task out of the queue; one that runs has to check it itself.
   * @throws {MetadataError} BUSY when too many wait already, or it waited too long.
   * @throws the reason of `signal`, or what `start` throws.
   */
  run<T>(host: string, start: () => Promise<T>, signal: AbortSignal): Promise<T>
}

interface Task {
  readonly host: string
  readonly lines: Set<Line>
  readonly sinceMs: number
  /** Started, refused or given up: its entries in the lines are passed over. */
  isGone: boolean
  /** Called with what ends the task. */
  readonly begin: (end: () => void) => void
  readonly refuse: (reason: unknown) => void
  readonly turn: Promise<() => void>
}

/** A line may have this many times as many tasks running as may still start. */
const shareOfFree = 3

/**
 * Lets tasks run, so many at once and so many per host.
 *
 * Lines take turns, within a line hosts take turns, and within a host tasks run in order of arrival. A line alone uses
 * three quarters of the places, two share six sevenths: whoever comes next always finds some free, however long the tasks
 * under way take. A host at its limit holds back nobody else.
 */
export class FetchQueue {
  readonly #limits: FetchQueueLimits
  /** With tasks waiting, in order of turns. */
  readonly #lines = new Set<Line>()
  readonly #loads = new Map<string, { running: number; waiting: number }>()
  #running = 0
  #waiting = 0

  constructor(limits: FetchQueueLimits) {
    this.#limits = limits
  }

  openLine(): Line {
    return { hosts: new Map(), waiting: 0, running: 0 }
  }

  openWork(first: Line): Work {
    const wanting = new Set([first])
    const waitingTasks = new Set<Task>()
    return {
      alsoFor: line => {
        if (wanting.has(line)) return
        wanting.add(line)
        for (const task of waitingTasks) if (!task.isGone) this.#enter(task, line)
        this.#startNext()
      },
      run: async (host, start, signal) => {
        signal.throwIfAborted()
        this.#makeRoom(host, wanting)
        const task = createTask(host)
        const giveUp = () => {
          if (task.isGone) return
          this.#leave(task)
          task.refuse(signal.reason)
        }
        signal.addEventListener('abort', giveUp, { once: true })
        waitingTasks.add(task)
        this.#count(host, 0, 1)
        for (const line of wanting) this.#enter(task, line)
        if (this.#hasRoom(host)) this.#startNext()
        const end = await task.turn.finally(() => {
          waitingTasks.delete(task)
          signal.removeEventListener('abort', giveUp)
        })
        try {
          return await start()
        } finally {
          end()
        }
      }
    }
  }

  /** Tasks of a host, running and waiting. */
  load(host: string): number {
    const load = this.#loads.get(host)
    return load === undefined ? 0 : load.running + load.waiting
  }

  running(): number {
    return this.#running
  }

  waiting(): number {
    return this.#waiting
  }

  #count(host: string, runningChange: number, waitingChange: number): void {
    const load = this.#loads.get(host) ?? { running: 0, waiting: 0 }
    load.running += runningChange
    load.waiting += waitingChange
    this.#running += runningChange
    this.#waiting += waitingChange
    if (load.running + load.waiting === 0) this.#loads.delete(host)
    else this.#loads.set(host, load)
  }

  #hasRoom(host: string): boolean {
    return this.#running < this.#limits.total && (this.#loads.get(host)?.running ?? 0) < this.#limits.perHost
  }

  #startNext(): void {
    while (this.#running < this.#limits.total && this.#startAny()) {}
  }

  #startAny(): boolean {
    for (const line of this.#lines) if (this.#startOne(line)) return true
    return false
  }

  /** @returns whether a task of this line could start. */
  #startOne(line: Line): boolean {
    if (line.running >= shareOfFree * (this.#limits.total - this.#running)) return false
    // Few are passed over: only as many hosts can be at their limit as fit into the total.
    for (const [host, tasks] of line.hosts) {
      while (tasks[0]?.isGone) tasks.shift()
      const [task] = tasks
      if (task === undefined) line.hosts.delete(host)
      if (task === undefined || !this.#hasRoom(host)) continue
      line.hosts.delete(host)
      line.hosts.set(host, tasks)
      this.#leave(task)
      this.#lines.delete(line)
      if (line.waiting > 0) this.#lines.add(line)
      if (performance.now() - task.sinceMs > this.#limits.patienceMs)
        task.refuse(busy('Waited too long', host))
      else this.#begin(task, line)
      return true
    }
    return false
  }

  #begin(task: Task, line: Line): void {
    line.running++
    this.#count(task.host, 1, 0)
    task.begin(() => {
      line.running--
      this.#count(task.host, -1, 0)
      this.#startNext()
    })
  }

  #enter(task: Task, line: Line): void {
    task.lines.add(line)
    const tasks = line.hosts.get(task.host)
    if (tasks === undefined) line.hosts.set(task.host, [task])
    else tasks.push(task)
    line.waiting++
    this.#lines.add(line)
  }

  /** Takes a waiting task out of all its lines. */
  #leave(task: Task): void {
    task.isGone = true
    this.#count(task.host, 0, -1)
    for (const line of task.lines) {
      if (--line.waiting > 0) continue
      line.hosts.clear()
      this.#lines.delete(line)
    }
  }

  /** @throws {MetadataError} BUSY when no other line has more tasks than those of the newcomer. */
  #makeRoom(host: string, own: ReadonlySet<Line>): void {
    if (this.#waiting < this.#limits.waiting) return
    let longest: Line | undefined
    for (const line of this.#lines) if (line.waiting > (longest?.waiting ?? 0)) longest = line
    const shortestOwn = Math.min(...[...own].map(line => line.waiting))
    const newest = longest !== undefined && longest.waiting > shortestOwn + 1 ? newestOf(longest) : undefined
    if (newest === undefined) throw busy('Too many fetches waiting', host)
    this.#leave(newest)
    newest.refuse(busy('Too many fetches waiting', newest.host))
  }
}

function createTask(host: string): Task {
  let begin: Task['begin'] = () => {}
  let refuse: Task['refuse'] = () => {}
  const turn = new Promise<() => void>((resolve, reject) => {
    begin = resolve
    refuse = reject
  })
  return { host, lines: new Set(), sinceMs: performance.now(), isGone: false, begin, refuse, turn }
}

function newestOf(line: Line): Task | undefined {
  for (const tasks of [...line.hosts.values()].reverse()) {
    while (tasks.at(-1)?.isGone) tasks.pop()
    const newest = tasks.pop()
    if (newest !== undefined) return newest
  }
  return undefined
}

function busy(message: string, host: string): MetadataError {
  return metadataFailure('BUSY', message, host)
}
