import type { IncludedPart } from '@chain-data/protocol'
import { hasReason } from '../hasReason.ts'
import { startDeadline } from '../startDeadline.ts'
import { createReader, type HistoryClient } from './createReader.ts'
import { createPolling, type FedList, type HistoryFeed } from './HistoryFeed.ts'
import type { FailedRead, HistorySnapshot, ReadingProgress } from './HistorySnapshot.ts'
import { pageVisibility, type Visibility } from './Visibility.ts'

/** Which history is held, and how it is kept up to date. */
export interface LiveHistoryOptions {
  /** The chain, also for a client that has a default one. */
  readonly chainId: number
  /** 20 bytes as 0x-hex, any case. */
  readonly address: string
  /** Records of the first page and of each older one, 1 to 1000. Default 25. */
  readonly pageSize?: number | undefined
  /** What to attach to the records; left out by itself for a host that does not know it. */
  readonly include?: readonly IncludedPart[] | undefined
  /**
   * When the newest records are read again. Default: `createPolling()`, every 4 seconds, half as often while no block comes.
   * `createStreaming()`: only where they do not follow from the changes that the service reports, if it offers that.
   */
  readonly feed?: HistoryFeed | undefined
  /** While this is not visible, nothing is read by itself and the feed is ended. Default: the page's own visibility, where there is a page. */
  readonly visibility?: Visibility | undefined
}

/**
 * The history of one address as a store that is kept up to date, for any framework.
 *
 * @example
 * const snapshot = useSyncExternalStore(history.subscribe, history.getSnapshot)
 */
export interface LiveHistory {
  /**
   * Calls the listener after each change of the snapshot. The first subscriber starts the reading, and after the last has left
   * nothing is read any more; what was read is kept.
   *
   * @returns Removes the listener.
   */
  readonly subscribe: (listener: () => void) => () => void
  /** The history as it is known now: the same object until something changes. */
  readonly getSnapshot: () => HistorySnapshot
  /**
   * Reads the next older page. While that is under way, further calls only wait for it.
   *
   * @returns Resolves when it has ended, also when it failed: `olderError` then says why.
   * @remarks While the host is still reading older history, it is asked again as long as somebody is subscribed.
   */
  readonly loadOlder: () => Promise<void>
  /** Reads the newest records at once, also after an error that nothing is read again after by itself. */
  readonly refresh: () => Promise<void>
  /** Ends everything for good: calls under way are aborted and the listeners forgotten. The snapshot stays. */
  readonly close: () => void
}

const firstBackoffMs = 1_000
const longestBackoffMs = 30_000
/** Timers cannot wait longer; they would fire at once. */
const longestTimerMs = 2 ** 31 - 1

/**
 * Creates a live history. Nothing is sent before somebody subscribes.
 *
 * The list is always the history at one head, as long as it was loaded: records of two branches of the chain never stand in it
 * together. An error leaves it as it was.
 *
 * @param client - A client, or anything with its `getTransactionsByAddress` and `getSyncStatus`.
 */
export function createLiveHistory(client: HistoryClient, options: LiveHistoryOptions): LiveHistory {
  const { feed = createPolling(), visibility = pageVisibility, pageSize = 25 } = options
  const ending = new AbortController()
  const reader = createReader(client, { ...options, pageSize, signal: ending.signal })
  const listeners = new Set<() => void>()

  let snapshot: HistorySnapshot = { state: 'loading', hasOlder: true, isLoadingOlder: false, reorgs: 0 }
  let failed: FailedRead | undefined
  let failures = 0
  let progress: ReadingProgress | undefined
  let olderError: Error | undefined

  let inTurn: Promise<unknown> = Promise.resolve()
  let reading: Promise<void> | undefined
  let loadingOlder: Promise<void> | undefined
  /** When the newest records are read again. */
  let dueMs = 0
  let timer: ReturnType<typeof setTimeout> | undefined
  let endFeed: (() => void) | undefined
  let endVisibility = () => {}

  /** What changes the list runs one after the other. */
  function takeTurn<Result>(change: () => Result | Promise<Result>): Promise<Result | undefined> {
    const turn = inTurn.then(() => (ending.signal.aborted ? undefined : change()))
    inTurn = turn.catch(() => {})
    return turn
  }

  function publish(): void {
    const next = currentSnapshot()
    if (ending.signal.aborted || isSameSnapshot(snapshot, next)) return
    snapshot = next
    for (const listener of [...listeners]) listener()
  }

  function currentSnapshot(): HistorySnapshot {
    const { records, hasOlder, reorgs, coverage, readAtMs } = reader.state()
    const facts = {
      ...{ hasOlder, reorgs, isLoadingOlder: loadingOlder !== undefined },
      ...(olderError && { olderError }),
      ...(coverage && { coverage }),
      ...(feed.isStreamed?.() && { isStreamed: true })
    }
    const read = readAtMs === undefined ? undefined : { ...facts, records }
    const newestProgress = hasReason(failed?.error, 'STILL_READING') ? failed.error.data.progress : undefined
    if (failed && !newestProgress) {
      return read && readAtMs !== undefined
        ? { state: 'stale', readAtMs, ...failed, ...read }
        : { state: 'failed', ...failed, ...facts }
    }
    const known = newestProgress ?? progress
    if (known) return { state: 'reading', progress: known, ...(read ?? facts) }
    return read ? { state: 'ready', ...read } : { state: 'loading', ...facts }
  }

  async function readNewest(): Promise<void> {
    const before = reader.state()
    let waitMs = Number.POSITIVE_INFINITY
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
    if (ending.signal.aborted) return Promise.resolve()
    clearTimeout(timer)
    reading ??= readNewest()
    return reading
  }

  /** Sets the timer for the next reading, where somebody sees the list. */
  function plan(): void {
    clearTimeout(timer)
    if (reading || !listeners.size || dueMs === Number.POSITIVE_INFINITY) return
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
        dueMs = Number.POSITIVE_INFINITY
        plan()
      }
      return at
    })
    // Apart, so that what a listener throws ends no stream.
    void turn.then(publish)
    return turn
  }

  async function readOlder(): Promise<void> {
    for (;;) {
      try {
        return await takeTurn(reader.readOlder)
      } catch (error) {
        olderError = error as Error
        if (!hasReason(error, 'STILL_READING') || !listeners.size) return
        olderError = undefined
        progress = error.data.progress
        publish()
        const pause = startDeadline(error.retryAfterMs ?? firstBackoffMs, ending.signal)
        await pause.race(new Promise(() => {})).catch(pause.release)
      }
    }
  }

  function loadOlder(): Promise<void> {
    if (ending.signal.aborted) return Promise.resolve()
    if (!loadingOlder) {
      olderError = undefined
      loadingOlder = readOlder().finally(() => {
        loadingOlder = progress = undefined
        publish()
      })
      publish()
    }
    return loadingOlder
  }

  /** A feed may hold a connection, of which a browser has few for all its pages: only a list that is seen has one. */
  function follow(): void {
    if (!listeners.size || !visibility.isVisible()) {
      endFeed?.()
      endFeed = undefined
      publish()
    } else if (!endFeed) {
      // What was reported meanwhile is not known.
      if (!reading && dueMs === Number.POSITIVE_INFINITY) dueMs = 0
      const { chainId, address, include } = options
      endFeed = feed.start(changed, { client, chainId, address, include, advance })
    }
    plan()
  }

  function stop(): void {
    endVisibility()
    follow()
  }

  return {
    subscribe(listener) {
      if (ending.signal.aborted) return () => {}
      // The same function may subscribe twice.
      const own = () => listener()
      if (!listeners.size) endVisibility = visibility.subscribe(follow)
      listeners.add(own)
      follow()
      return () => {
        listeners.delete(own)
        if (!listeners.size) stop()
      }
    },
    getSnapshot: () => snapshot,
    loadOlder,
    refresh,
    close() {
      ending.abort()
      listeners.clear()
      stop()
    }
  }
}

/** Two snapshots are the same when each member of one is the same in the other. */
function isSameSnapshot(one: HistorySnapshot, other: HistorySnapshot): boolean {
  const names = Object.keys({ ...one, ...other }) as (keyof HistorySnapshot)[]
  return names.every(name => one[name] === other[name])
}
