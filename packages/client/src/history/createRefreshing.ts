import type { IncludedPart } from '@chain-data/protocol'
import { hasReason } from '../hasReason.ts'
import type { HistoryClient, Reader } from './createReader.ts'
import type { FedList, HistoryFeed } from './HistoryFeed.ts'
import type { FailedRead } from './HistorySnapshot.ts'
import type { Visibility } from './Visibility.ts'

/** Which history is kept up to date, and how. */
interface Settings {
  readonly chainId: number
  readonly address: string
  readonly include?: readonly IncludedPart[] | undefined
  readonly feed: HistoryFeed
  readonly visibility: Visibility
  /** Fires when the list is closed. */
  readonly signal: AbortSignal
}

/** The list whose newest records are read. */
interface Refreshed {
  readonly reader: Reader
  /** Without any, nothing is read by itself. */
  readonly listeners: ReadonlySet<unknown>
  /** Runs what changes the list, one after the other. */
  readonly takeTurn: <Result>(change: () => Result | Promise<Result>) => Promise<Result | undefined>
  /** Shows what changed. */
  readonly publish: () => void
}

/** Keeps the newest records of a list up to date. */
interface Refreshing {
  /** Why the last reading failed; absent after one that was answered. */
  readonly failed: () => FailedRead | undefined
  /** Reads now. While that is under way, further calls only wait for it. */
  readonly refresh: () => Promise<void>
  /** Begins or ends what goes on by itself, after a change of who sees the list. */
  readonly follow: () => void
}

/** Wait before the next call, where the service names none. */
export const firstBackoffMs = 1_000
const longestBackoffMs = 30_000
/** Timers cannot wait longer; they would fire at once. */
const longestTimerMs = 2 ** 31 - 1

/** Reads the newest records of a list while somebody sees it: when its feed says, and again after an error. */
export function createRefreshing(
  client: HistoryClient,
  { chainId, address, include, feed, visibility, signal }: Settings,
  { reader, listeners, takeTurn, publish }: Refreshed
): Refreshing {
  let failed: FailedRead | undefined
  let failures = 0
  let reading: Promise<void> | undefined
  /** When the newest records are read again. */
  let dueMs = 0
  let timer: ReturnType<typeof setTimeout> | undefined
  let endFeed: (() => void) | undefined

  async function readNewest(): Promise<void> {
    const before = reader.state()
    let waitMs = Infinity
    dueMs = waitMs
    try {
      await takeTurn(reader.readNewest)
      failed = undefined
      failures = 0
      const { records, coverage, cursor } = reader.state()
      const blocks = [before.coverage?.to, coverage?.to]
      const hasNewBlock = blocks.includes(undefined) ? undefined : blocks[0] !== blocks[1]
      waitMs = feed.waitMs({ hasChanged: before.records !== records, hasNewBlock, cursor })
    } catch (caught) {
      const error = caught as Error & { readonly retryable?: boolean; readonly retryAfterMs?: number }
      if (error.retryable) {
        const backoffMs = Math.min(firstBackoffMs * 2 ** failures, longestBackoffMs)
        waitMs = Math.max(error.retryAfterMs ?? 0, backoffMs)
        // That is no failure: the answer is on its way.
        if (!hasReason(error, 'STILL_READING')) failures++
      }
      failed = { error, ...(waitMs < longestTimerMs && { retryAtMs: Date.now() + waitMs }) }
    }
    // The feed may have reported a change meanwhile.
    dueMs = failed ? Date.now() + waitMs : Math.min(dueMs, Date.now() + waitMs)
    reading = undefined
    plan()
    publish()
  }

  function refresh(): Promise<void> {
    if (signal.aborted) return Promise.resolve()
    clearTimeout(timer)
    reading ??= readNewest()
    return reading
  }

  /** Sets the timer for the next reading, where somebody sees the list. */
  function plan(): void {
    clearTimeout(timer)
    if (reading || !listeners.size || dueMs === Infinity) return
    // What was never read is, so that a page that was opened in the background is there when it is looked at.
    if (reader.state().readAtMs !== undefined && !visibility.isVisible()) return
    timer = setTimeout(refresh, Math.min(Math.max(0, dueMs - Date.now()), longestTimerMs))
  }

  function changed(waitMs = 0): void {
    // After an error the wait is the service's word.
    if (!failed) dueMs = Math.min(dueMs, Date.now() + waitMs)
    plan()
  }

  const advance: FedList['advance'] = (after, to, apply) => {
    const turn = takeTurn(() => {
      const at = reader.advance(after, to, apply)
      if (!at) changed()
      if (at === to.cursor) {
        failed = undefined
        failures = 0
        dueMs = Infinity
        plan()
      }
      return at
    })
    // Apart, so that what a listener throws ends no stream.
    void turn.then(publish)
    return turn
  }

  /** A feed may hold a connection, of which a browser has few for all its pages: only a list that is seen has one. */
  function follow(): void {
    if (!listeners.size || !visibility.isVisible()) {
      endFeed?.()
      endFeed = undefined
      publish()
    } else if (!endFeed) {
      // What was reported meanwhile is not known.
      if (!reading && dueMs === Infinity) dueMs = 0
      endFeed = feed.start(changed, { client, chainId, address, include, advance })
    }
    plan()
  }

  return { failed: () => failed, refresh, follow }
}
