/** Everything that has to be ended, in the reverse order of its start. */
export interface Shutdown {
  /** @param end - May throw: the others are ended all the same. */
  add(end: () => Promise<unknown> | unknown): void
  /** Ends everything; further calls wait for the first. @returns What went wrong. */
  run(): Promise<unknown[]>
}

/** A shutdown with nothing to end yet. */
export function createShutdown(): Shutdown {
  const ends: (() => Promise<unknown> | unknown)[] = []
  let running: Promise<unknown[]> | undefined

  async function endAll() {
    const failures: unknown[] = []
    for (let end = ends.pop(); end !== undefined; end = ends.pop()) {
      try {
        await end()
      } catch (error) {
        failures.push(error)
      }
    }
    return failures
  }

  return {
    add: end => ends.push(end),
    run() {
      running ??= endAll()
      return running
    }
  }
}
