import type { WriterReport } from '../../index/port/status.ts'
import { type Clock, steadyClock, systemClock } from '../../platform/clock.ts'

/** What is known of the writer elsewhere after a look at its last report. */
type Heard =
  /** It says this; `writtenAtMs` is `Date.now()` of a moment before it was written, and hardly earlier. */
  | { readonly kind: 'heard'; readonly report: WriterReport; readonly writtenAtMs: number }
  /** Nothing new, but not for long: what was heard before stands. */
  | { readonly kind: 'listening' }
  | { readonly kind: 'silent'; readonly silentMs: number }

export interface WriterWatch {
  /** @param report - the last one; absent when there is none, or when it could not be read. */
  look(report: WriterReport | undefined): Heard
}

/**
 * Finds out whether a writer in another process still says what its last report says. No clock is compared with another
 * one: a report counts only once another beat was seen before it, and from that look on.
 *
 * @param options.silentAfterMs - a report that was written longer ago is not believed any more.
 */
export function createWriterWatch({
  silentAfterMs,
  steady = steadyClock,
  wall = systemClock
}: {
  readonly silentAfterMs: number
  readonly steady?: Clock
  readonly wall?: Clock
}): WriterWatch {
  const startedMs = steady.now()
  /** The look that saw a report last, and what it saw. */
  let seen: { readonly beat: number; readonly atMs: number } | undefined
  /** Of the report that counts: it was written between the look before its first one and that one. */
  let written: { readonly afterMs: number; readonly atMs: number } | undefined

  return {
    look(report) {
      const nowMs = steady.now()
      if (report !== undefined) {
        if (seen !== undefined && seen.beat !== report.beat) {
          // The earlier moment: after a pause of this process itself, the report may be nearly as old as that pause.
          written = { afterMs: seen.atMs, atMs: wall.now() - (nowMs - seen.atMs) }
        }
        seen = { beat: report.beat, atMs: nowMs }
      }
      const silentMs = nowMs - (written?.afterMs ?? startedMs)
      if (silentMs > silentAfterMs) return { kind: 'silent', silentMs }
      if (report === undefined || written === undefined) return { kind: 'listening' }
      return { kind: 'heard', report, writtenAtMs: written.atMs }
    }
  }
}
