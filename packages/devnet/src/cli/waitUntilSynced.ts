import type { Progress } from './createProgress.ts'

/** How far one chain is. */
export interface SyncPoint {
  /** Absent while nothing is known yet. */
  head?: number
  indexedTo?: number
  indexedFrom?: number
}

/** What {@link waitUntilSynced} needs to know and to tell. */
export interface SyncWatch {
  /** Whether every chain has finished its first backfill. */
  isReady(): Promise<boolean>
  /** Where every chain stands; a failure counts as nothing known. */
  read(): Promise<SyncPoint[]>
  progress: Progress
  /** Without any progress for so long it is given up. Default 60 000. */
  patienceMs?: number
  pollMs?: number
  /** Ends the waiting with the signal's reason. */
  signal?: AbortSignal
}

/**
 * Waits for the first backfill of every chain and shows how far it is, in blocks.
 *
 * @throws When nothing moves for too long.
 */
export async function waitUntilSynced({ isReady, read, progress, ...rest }: SyncWatch): Promise<void> {
  const { patienceMs = 60_000, pollMs = 100, signal } = rest
  let lastSum = -1
  let lastMove = Date.now()
  try {
    for (;;) {
      signal?.throwIfAborted()
      // Asked first, so that the numbers shown last are not older than the readiness.
      const ready = await isReady()
      const { done, total } = sum(await read().catch(() => []))
      if (total > 0) progress.update(ready ? total : Math.min(done, total), total)
      if (ready) return
      if (done !== lastSum) lastMove = Date.now()
      lastSum = done
      if (Date.now() - lastMove > patienceMs) {
        throw new Error(`the index has not moved for ${patienceMs / 1000} s (${done} of ${total} blocks)`)
      }
      await new Promise(resolve => setTimeout(resolve, pollMs))
    }
  } finally {
    progress.stop()
  }
}

function sum(points: SyncPoint[]) {
  let done = 0
  let total = 0
  for (const { head, indexedTo, indexedFrom = 0 } of points) {
    if (head === undefined) continue
    total += head + 1 - indexedFrom
    if (indexedTo !== undefined) done += Math.max(0, indexedTo + 1 - indexedFrom)
  }
  return { done, total }
}
