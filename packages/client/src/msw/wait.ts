/** Resolves after so many milliseconds; never, and without a timer, for `Infinity`. */
export function wait(delayMs: number): Promise<void> {
  return new Promise(resolve => {
    if (Number.isFinite(delayMs)) setTimeout(resolve, delayMs)
  })
}
