import type { SyncStatus } from '../../model/sync.ts'

const intervalMs = 100

/**
 * Passes statuses on: at once when the phase, the problem or a mark changes, otherwise the newest one at most every 100 ms.
 * `flush` passes on what still waits.
 */
export function throttleStatus(receive: (status: SyncStatus) => void): {
  send(status: SyncStatus): void
  flush(): void
} {
  let waiting: SyncStatus | undefined
  let last: SyncStatus | undefined
  let timer: NodeJS.Timeout | undefined

  function flush() {
    clearTimeout(timer)
    timer = undefined
    if (waiting === undefined) return
    last = waiting
    waiting = undefined
    receive(last)
  }

  return {
    send(status) {
      waiting = status
      if (isNews(status, last)) flush()
      else timer ??= setTimeout(flush, intervalMs).unref()
    },
    flush
  }
}

/** Whether `status` says something that nobody should have to wait for. */
export function isNews(status: SyncStatus, last: SyncStatus | undefined): boolean {
  return (
    status.phase !== last?.phase ||
    status.problem !== last?.problem ||
    status.backfilled !== last?.backfilled ||
    status.degraded !== last?.degraded ||
    status.rollingBackTo !== last?.rollingBackTo ||
    status.waiting !== last?.waiting
  )
}
