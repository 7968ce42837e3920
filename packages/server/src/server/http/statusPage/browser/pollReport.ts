import type { StatusReport } from '../StatusReport.ts'

/** What the page learns of the server. */
export interface PollListener {
  onReport(report: StatusReport): void
  /** Called for every attempt that failed. @param sinceSeconds - Unix second of the first of them in a row. */
  onSilence(sinceSeconds: number): void
}

const longestMs = 60_000
const deadlineMs = 10_000

/**
 * Asks for the report again and again: not while the page is hidden, at once when it is shown again, and ever more
 * rarely while no answer comes.
 * @param everyMs - between two reports; half of it before the first.
 */
export function pollReport(url: URL, everyMs: number, { onReport, onSilence }: PollListener): void {
  let failures = 0
  let silentSince = 0
  let timer: ReturnType<typeof setTimeout> | undefined
  let isAsking = false

  const wait = (ms: number) => {
    clearTimeout(timer)
    if (!document.hidden) timer = setTimeout(ask, ms)
  }

  async function ask(): Promise<void> {
    if (isAsking) return
    isAsking = true
    try {
      onReport(await readReport(url))
      failures = 0
    } catch {
      if (failures === 0) silentSince = Date.now() / 1_000
      failures++
      onSilence(silentSince)
    } finally {
      isAsking = false
    }
    wait(Math.min(longestMs, everyMs * 2 ** failures))
  }

  document.addEventListener('visibilitychange', () => {
    clearTimeout(timer)
    if (!document.hidden) void ask()
  })
  wait(everyMs / 2)
}

async function readReport(url: URL): Promise<StatusReport> {
  const response = await fetch(url, { cache: 'no-store', signal: AbortSignal.timeout(deadlineMs) })
  const report = (await response.json()) as StatusReport
  if (!response.ok || report.formatVersion !== 1) throw new Error('no report that this page understands')
  return report
}
