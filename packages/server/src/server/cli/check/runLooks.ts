import { setTimeout as sleep } from 'node:timers/promises'
import { type PlacedFinding, placeFindings } from './placedFinding.ts'

/** One thing to look at. */
export interface Look {
  readonly place: string
  /** Begins when called; what it rejects with becomes an error at its place. */
  run(): Promise<readonly PlacedFinding[]>
}

/**
 * Looks at everything at the same time.
 *
 * @param options.timeoutMs - what is not done by then is an error.
 * @param options.onProgress - called after each look with how many are done.
 * @returns in the order of `looks`, whatever was done first.
 */
export async function runLooks(
  looks: readonly Look[],
  options: { readonly timeoutMs: number; readonly onProgress?: (done: number, all: number) => void }
): Promise<readonly PlacedFinding[]> {
  const { timeoutMs, onProgress } = options
  const ended = new AbortController()
  const late = sleep(timeoutMs, undefined, { signal: ended.signal }).catch(() => undefined)
  let done = 0
  const results = await Promise.all(
    looks.map(async ({ place, run }) => {
      const overdue = late.then(() => fail(place, `not done within ${timeoutMs / 1_000} s`))
      const findings = await Promise.race([run().catch(error => fail(place, textOf(error))), overdue])
      onProgress?.(++done, looks.length)
      return findings
    })
  )
  ended.abort()
  return results.flat()
}

function fail(place: string, found: string): readonly PlacedFinding[] {
  const advice = 'check that it can be reached from here'
  return placeFindings(place, [{ check: 'reach', state: 'error', found, advice }])
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
