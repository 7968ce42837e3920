/** Lets work run while there are permits, and queues the rest in the order of arrival. */
export interface Permits {
  /**
   * Runs `work` as soon as a permit is free; the permit is returned when `work` settles.
   * @throws the signal's reason when it aborts while the work is queued, and what `work` throws.
   */
  run<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T>
  /** Number of permits in use. */
  inUse(): number
  /** Number of permits in use, and of works in the queue. */
  wanted(): number
}

/**
 * @param mayStart - decides whether one more may run beside the `inUse` that do; asked again whenever a permit is returned.
 *   It has to allow the first one.
 */
export function createPermits(mayStart: (inUse: number) => boolean): Permits {
  const queue = new Set<() => void>()
  let inUse = 0

  function startQueued(): void {
    for (const start of queue) {
      if (!mayStart(inUse)) return
      queue.delete(start)
      inUse++
      start()
    }
  }

  function acquire(signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted()
    return new Promise((resolve, reject) => {
      const leave = () => {
        queue.delete(start)
        reject(signal?.reason)
      }
      const start = () => {
        signal?.removeEventListener('abort', leave)
        resolve()
      }
      signal?.addEventListener('abort', leave, { once: true })
      queue.add(start)
      startQueued()
    })
  }

  return {
    async run(work, signal) {
      await acquire(signal)
      try {
        return await work()
      } finally {
        inUse--
        startQueued()
      }
    },
    inUse: () => inUse,
    wanted: () => inUse + queue.size
  }
}

/** Permits for each of many keys; nothing waits for one. */
export interface KeyedPermits {
  /**
   * Takes a permit of each key, unless one of them has none left.
   *
   * @returns gives them back, to be called once; `undefined` when none was taken.
   */
  take(keys: readonly (readonly [key: string, max: number])[]): (() => void) | undefined
}

/** @remarks Nothing is kept of a key whose permits are all free. */
export function createKeyedPermits(): KeyedPermits {
  const counts = new Map<string, number>()
  const add = (key: string, change: 1 | -1) => {
    const count = (counts.get(key) ?? 0) + change
    if (count > 0) counts.set(key, count)
    else counts.delete(key)
  }
  return {
    take(keys) {
      if (keys.some(([key, max]) => (counts.get(key) ?? 0) >= max)) return undefined
      for (const [key] of keys) add(key, 1)
      return () => {
        for (const [key] of keys) add(key, -1)
      }
    }
  }
}

/**
 * Runs `run` for every item, at most `maxConcurrent` at a time.
 *
 * @returns the results in the order of `items`.
 * @throws the first failure; no further item is started after it.
 */
export async function mapConcurrently<T, R>(
  items: readonly T[],
  maxConcurrent: number,
  run: (item: T, index: number) => Promise<R>
): Promise<R[]> {
  const results = new Array<R>(items.length)
  const queue = items.entries()
  let hasFailed = false
  const lane = async () => {
    for (const [index, item] of queue) {
      if (hasFailed) return
      try {
        results[index] = await run(item, index)
      } catch (error) {
        hasFailed = true
        throw error
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(maxConcurrent, items.length) }, lane))
  return results
}

/** Cuts a list into parts of `size` items; the last one may be shorter. */
export function chunk<T>(items: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, i) =>
    items.slice(i * size, (i + 1) * size)
  )
}
