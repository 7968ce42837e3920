const windowMs = 5_000

/** Measures how fast a number grows, over the last five seconds. */
export function createRate(): {
  note(nowMs: number, value: number): void
  /** Absent until it has been watched for a moment; also right after it went back. */
  perSecond(): number | undefined
} {
  let samples: { readonly ms: number; readonly value: number }[] = []
  return {
    note(nowMs, value) {
      // What was before a reorg says nothing of how fast blocks come.
      if (value < (samples.at(-1)?.value ?? 0)) samples = []
      samples.push({ ms: nowMs, value })
      while ((samples[1]?.ms ?? nowMs) <= nowMs - windowMs) samples.shift()
    },
    perSecond() {
      const [first, last] = [samples[0], samples.at(-1)]
      if (first === undefined || last === undefined || last.ms <= first.ms) return undefined
      return ((last.value - first.value) * 1_000) / (last.ms - first.ms)
    }
  }
}
