import type { DeepProgress } from '../../../model/deepHistory.ts'
import type { Searches } from './searches.ts'

/**
 * Measures one reading: its calls, its records and what is left of it.
 * @param began - everything from this block upwards was known before.
 */
export function createMeter(began: number) {
  const beganMs = performance.now()
  /** What searches had done before. */
  const firsts = new Map<Searches, Pick<Searches, 'calls' | 'kept'>>()
  const done = (what: 'calls' | 'kept') =>
    [...firsts].reduce((sum, [searches, first]) => sum + searches[what] - first[what], 0)

  return {
    began,
    /** Records that were found by now. */
    get kept() {
      return done('kept')
    },
    /** Begins to count what a search does. */
    begin(searches: Searches): void {
      if (!firsts.has(searches)) firsts.set(searches, { calls: searches.calls, kept: searches.kept })
    },
    /** @param reachedBlock - everything from this block upwards is known now. */
    progress(reachedBlock: number, searches: Searches | undefined): DeepProgress {
      const tookMs = performance.now() - beganMs
      const callsLeft = searches?.direct?.callsLeft
      if (searches !== undefined && callsLeft !== undefined) {
        const all = searches.calls + callsLeft
        const calls = done('calls')
        searches.percent = Math.max(searches.percent, Math.min(99, Math.floor((100 * searches.calls) / all)))
        return {
          ...{ isDone: false, reachedBlock, percent: searches.percent },
          ...(calls > 0 && { expectedMs: Math.ceil((callsLeft * tookMs) / calls) })
        }
      }
      const passed = began - reachedBlock
      return {
        ...{ isDone: false, reachedBlock },
        ...(passed > 0 && { expectedMs: Math.ceil((reachedBlock * tookMs) / passed) })
      }
    }
  }
}
