import type { StoreWriter } from '../../index/port/writer.ts'
import type { SyncStatus } from '../../model/sync.ts'
import type { Logger } from '../../platform/logger.ts'
import { isNews } from './status.ts'

/** Tells servers that wait for the writer's place how this one stands. */
export interface StatusReports {
  /** Writes `status` down at once where it is news, else with the next beat. */
  note(status: SyncStatus): void
  /** Nothing is written any more. */
  stop(): void
}

/**
 * Writes into the store how its writer stands: once in `everyMs`, changed or not, and at every news. A report that cannot be
 * written does not end the indexing: who waits hears nothing then, and says so.
 */
export function reportStatus({
  store,
  status,
  everyMs,
  logger
}: {
  readonly store: Pick<StoreWriter, 'report'>
  readonly status: SyncStatus
  readonly everyMs: number
  readonly logger: Logger
}): StatusReports {
  let current = status
  let isFailing = false
  let isStopped = false

  function write(): void {
    if (isStopped) return
    const { phase, head, finalized, indexedTo, rollingBackTo, poolCovered, poolSeenAtMs, problem } = current
    const report = {
      ...{ phase, poolCovered },
      ...(head === undefined ? {} : { head }),
      ...(finalized === undefined ? {} : { finalized }),
      ...(indexedTo === undefined ? {} : { indexedTo: indexedTo.number }),
      ...(rollingBackTo === undefined ? {} : { rollingBackTo }),
      ...(poolSeenAtMs === undefined ? {} : { poolAgeMs: Math.max(0, Date.now() - poolSeenAtMs) }),
      ...(problem === undefined ? {} : { problem })
    }
    store.report(report).then(
      () => {
        isFailing = false
      },
      (error: unknown) => {
        if (!isFailing) logger.warn('other servers cannot be told how the index stands', { error })
        isFailing = true
      }
    )
  }

  write()
  const timer = setInterval(write, everyMs).unref()
  return {
    note(next) {
      const last = current
      current = next
      if (isNews(next, last)) write()
    },
    stop() {
      isStopped = true
      clearInterval(timer)
    }
  }
}
