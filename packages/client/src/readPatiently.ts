import { hasReason } from './hasReason.ts'
import { startDeadline } from './startDeadline.ts'

/** So many answers without any progress, a minute of them at the usual pause, mean that waiting is of no use. */
const mostStanding = 60
const mostPauseMs = 10_000

/**
 * Reads a page. Where the host is still reading the older history (`STILL_READING`), it is asked again until the page is
 * there.
 *
 * @throws what `read` throws; `STILL_READING` once the host reports no progress any more.
 */
export async function readPatiently<Page>(
  read: () => Promise<Page>,
  signal: Parameters<typeof startDeadline>[1]
): Promise<Page> {
  let progress: unknown
  let standing = 0
  for (;;) {
    try {
      return await read()
    } catch (error) {
      if (!hasReason(error, 'STILL_READING')) throw error
      const last = progress
      progress = JSON.stringify(error.data.progress)
      standing = progress === last ? standing + 1 : 0
      if (standing >= mostStanding) throw error
      const pause = startDeadline(Math.min(mostPauseMs, error.retryAfterMs ?? 1_000), signal)
      await pause.race(new Promise(() => {})).catch(pause.release)
    }
  }
}
