import { durationBounds, type UpstreamFigures } from './upstreamFigures.ts'

/** What one upstream's figures count. */
export interface UpstreamCounts {
  work(outcome: string, durationMs: number): void
  retry(): void
  hedgeSent(): void
  hedgeWon(): void
  read(): Pick<
    UpstreamFigures,
    'calls' | 'durations' | 'durationSeconds' | 'retries' | 'hedgesSent' | 'hedgesWon'
  >
}

export function createUpstreamCounts(): UpstreamCounts {
  const calls: Record<string, number> = {}
  const durations = new Array<number>(durationBounds.length + 1).fill(0)
  let durationSeconds = 0
  let retries = 0
  let hedgesSent = 0
  let hedgesWon = 0
  return {
    work(outcome, durationMs) {
      calls[outcome] = (calls[outcome] ?? 0) + 1
      const seconds = durationMs / 1000
      const place = durationBounds.findIndex(bound => seconds <= bound)
      const bucket = place < 0 ? durationBounds.length : place
      durations[bucket] = (durations[bucket] ?? 0) + 1
      durationSeconds += seconds
    },
    retry() {
      retries++
    },
    hedgeSent() {
      hedgesSent++
    },
    hedgeWon() {
      hedgesWon++
    },
    read: () => ({
      calls: { ...calls },
      durations: [...durations],
      durationSeconds,
      retries,
      hedgesSent,
      hedgesWon
    })
  }
}
