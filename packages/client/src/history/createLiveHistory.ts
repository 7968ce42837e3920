import type { IncludedPart } from '@chain-data/protocol'
import { hasReason } from '../hasReason.ts'
import { startDeadline } from '../startDeadline.ts'
import { createReader, type HistoryClient } from './createReader.ts'
import { createRefreshing, firstBackoffMs } from './createRefreshing.ts'
import { createPolling, type HistoryFeed } from './HistoryFeed.ts'
import type { HistorySnapshot, ReadingProgress } from './HistorySnapshot.ts'
import { isSameSnapshot, toSnapshot } from './toSnapshot.ts'
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
  const settings = { ...options, pageSize, feed, visibility, signal: ending.signal }
  const reader = createReader(client, settings)
  const listeners = new Set<() => void>()

  let snapshot: HistorySnapshot = { state: 'loading', hasOlder: true, isLoadingOlder: false, reorgs: 0 }
  let progress: ReadingProgress | undefined
  let olderError: Error | undefined

  let inTurn: Promise<unknown> = Promise.resolve()
  let loadingOlder: Promise<void> | undefined
  let endVisibility = () => {}

  const list = { reader, listeners, takeTurn, publish }
  const { failed, refresh, follow } = createRefreshing(client, settings, list)

  /** What changes the list runs one after the other. */
  function takeTurn<Result>(change: () => Result | Promise<Result>): Promise<Result | undefined> {
    const turn = inTurn.then(() => (ending.signal.aborted ? undefined : change()))
    inTurn = turn.catch(() => {})
    return turn
  }

  function publish(): void {
    const next = toSnapshot(reader.state(), failed(), progress, {
      isLoadingOlder: loadingOlder !== undefined,
      ...(olderError && { olderError }),
      ...(feed.isStreamed?.() && { isStreamed: true })
    })
    if (ending.signal.aborted || isSameSnapshot(snapshot, next)) return
    snapshot = next
    for (const listener of [...listeners]) listener()
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
