import { metadataFailure } from './metadataFailure.ts'

export interface FetchQueueLimits {
  readonly total: number
  readonly perHost: number
  /** Tasks waiting for their turn; more are refused. */
  readonly waiting: number
}

/** @throws {MetadataError} BUSY when too many wait already; otherwise what `task` throws. */
export type FetchQueue = <T>(host: string, task: () => Promise<T>) => Promise<T>

interface Host {
  running: number
  readonly waiting: (() => void)[]
}

/**
 * Lets tasks run, so many at once and so many per host. Hosts take turns; within one host tasks run in order of
 * arrival. A host at its limit holds back nobody else.
 */
export function createFetchQueue(limits: FetchQueueLimits): FetchQueue {
  /** In order of turns; a host without any task is forgotten. */
  const hosts = new Map<string, Host>()
  let running = 0
  let waiting = 0

  function startNext(): void {
    // Few are passed over: only as many hosts can be at their limit as fit into the total.
    for (const [name, host] of hosts) {
      if (running >= limits.total) return
      const start = host.running < limits.perHost ? host.waiting.shift() : undefined
      if (start === undefined) continue
      hosts.delete(name)
      hosts.set(name, host)
      host.running++
      running++
      waiting--
      start()
    }
  }

  function end(name: string, host: Host): void {
    host.running--
    running--
    if (host.running === 0 && host.waiting.length === 0) hosts.delete(name)
    startNext()
  }

  return async (name, task) => {
    if (waiting >= limits.waiting) throw metadataFailure('BUSY', 'Too many fetches waiting', name)
    const host = hosts.get(name) ?? { running: 0, waiting: [] }
    hosts.set(name, host)
    await new Promise<void>(start => {
      host.waiting.push(start)
      waiting++
      startNext()
    })
    try {
      return await task()
    } finally {
      end(name, host)
    }
  }
}
