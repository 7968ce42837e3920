import { createHistogram, type UpstreamFigures, upstreamBounds } from '../../platform/figures.ts'

/** What one upstream's figures count. */
export interface UpstreamCounts {
  work(outcome: string, durationMs: number): void
  retry(): void
  hedgeSent(): void
  hedgeWon(): void
  read(): Pick<UpstreamFigures, 'calls' | 'durations' | 'retries' | 'hedgesSent' | 'hedgesWon'>
}

export function createUpstreamCounts(): UpstreamCounts {
  const calls: Record<string, number> = {}
  const durations = createHistogram(upstreamBounds)
  let retries = 0
  let hedgesSent = 0
  let hedgesWon = 0
  return {
    work(outcome, durationMs) {
      calls[outcome] = (calls[outcome] ?? 0) + 1
      durations.note(durationMs / 1_000)
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
    read: () => ({ calls: { ...calls }, durations: durations.read(), retries, hedgesSent, hedgesWon })
  }
}
