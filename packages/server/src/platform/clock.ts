/** The server's clock, given to its users so that tests can move it. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number
}

/** Milliseconds since some moment; never goes back, whatever is done to the machine's clock. */
export const steadyClock: Clock = { now: () => performance.now() }

/** The machine's clock. */
export const systemClock: Clock = { now: () => Date.now() }
