import { setTimeout as sleep } from 'node:timers/promises'
import { scrubText } from '../../platform/scrubText.ts'

/** What one check of something the server will need has shown. */
export interface Finding {
  /** Subject in one or two words, such as `receipts`. Others script against it. */
  readonly check: string
  /** `warning` is for what works and should be attended to, `error` for what will not work. */
  readonly state: 'ok' | 'warning' | 'error'
  /** The finding in one sentence without an end mark. Never holds a key, nor more of a URL than its origin. */
  readonly found: string
  /** What to do about it; absent when there is nothing to do. */
  readonly advice?: string
}

export function ok(check: string, found: string): Finding {
  return { check, state: 'ok', found }
}

export function warning(check: string, found: string, advice?: string): Finding {
  return { check, state: 'warning', found, ...(advice === undefined ? {} : { advice }) }
}

export function failure(check: string, found: string, advice: string): Finding {
  return { check, state: 'error', found, advice }
}

/** A finding and which part of the configuration it is about. */
export interface PlacedFinding extends Finding {
  /** Key in the configuration, such as `chains.evm[0].rpcUrls[1]`; `node` is Node.js itself. */
  readonly place: string
  /** Scheme, host and port of the URL there; absent where there is none. */
  readonly origin?: string
}

/** Adds the place to each finding, and the origin of the URL that is there, never more of it. */
export function placeFindings(
  place: string,
  findings: readonly Finding[],
  url?: string
): readonly PlacedFinding[] {
  const origin = url === undefined ? undefined : scrubText(url, 200)
  return findings.map(finding => ({ place, ...(origin === undefined ? {} : { origin }), ...finding }))
}

/** One check. */
export interface Look {
  readonly place: string
  /** Begins when called; a rejection becomes an error at its place. */
  run(): Promise<readonly PlacedFinding[]>
}

/** A check of one place. @param url - the one that is there. */
export function lookAt(
  place: string,
  look: () => Finding | readonly Finding[] | Promise<Finding | readonly Finding[]>,
  url?: string
): Look {
  return { place, run: async () => placeFindings(place, [await look()].flat(), url) }
}

/**
 * Runs all checks at the same time.
 *
 * @param options.timeoutMs - a check that is not done by then is an error.
 * @param options.onProgress - called after each check with how many are done.
 * @returns in the order of `looks`, whatever was done first.
 */
export async function runLooks(
  looks: readonly Look[],
  options: { readonly timeoutMs: number; readonly onProgress?: (done: number, all: number) => void }
): Promise<readonly PlacedFinding[]> {
  const { timeoutMs, onProgress } = options
  const advice = 'check that it can be reached from here'
  const fail = (place: string, found: string) => placeFindings(place, [failure('reach', found, advice)])
  const ended = new AbortController()
  const late = sleep(timeoutMs, undefined, { signal: ended.signal }).catch(() => undefined)
  let done = 0
  const results = await Promise.all(
    looks.map(async ({ place, run }) => {
      const overdue = late.then(() => fail(place, `not done within ${timeoutMs / 1_000} s`))
      const failed = (error: unknown) => fail(place, error instanceof Error ? error.message : String(error))
      const findings = await Promise.race([run().catch(failed), overdue])
      onProgress?.(++done, looks.length)
      return findings
    })
  )
  ended.abort()
  return results.flat()
}
