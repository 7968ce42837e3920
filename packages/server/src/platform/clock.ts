/** The server's sense of time, handed to whoever needs it so that tests can move it. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number
}

/** The machine's clock. */
export const systemClock: Clock = { now: () => Date.now() }
