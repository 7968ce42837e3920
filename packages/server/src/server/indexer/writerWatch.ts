import type { WriterReport } from '@chain-data/index'
import { type Clock, steadyClock, systemClock } from '../../platform/clock.ts'

/** Knowledge of the writer elsewhere after a read of its last report. */
type Heard =
  /** The report is current; `writtenAtMs` is a moment just before it was written, by `Date.now()`. */
  | { readonly kind: 'heard'; readonly report: WriterReport; readonly writtenAtMs: number }
  /** There is nothing new yet: the report before stands. */
  | { readonly kind: 'listening' }
  | { readonly kind: 'silent'; readonly silentMs: number }

export interface WriterWatch {
  /** @param report - the last one; absent when there is none, or when it could not be read. */
  look(report: WriterReport | undefined): Heard
  /** Another index is in the place of the one that was read: what its writer reported says nothing about this one. */
  forget(): void
}

/**
 * Finds out whether the last report of a writer in another process is current. No clock is compared with another one: a
 * report counts only once another beat was seen before it, and from that read on.
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
  let startedMs = steady.now()
  /** The last read that saw a report. */
  let seen: { readonly beat: number; readonly atMs: number } | undefined
  /** The report that counts was written between its first read and the read before. */
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
    },
    forget() {
      startedMs = steady.now()
      seen = undefined
      written = undefined
    }
  }
}
