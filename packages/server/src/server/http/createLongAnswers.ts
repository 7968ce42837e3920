import { type Clock, steadyClock } from '../../platform/clock.ts'
import type { Caller } from '../projects/Caller.ts'
import type { Places } from './createPlaces.ts'
import type { BodyStream } from './exchange.ts'
import { onceEnded } from './onceEnded.ts'

/** Bounds the streamed answers that last. */
export interface LongAnswers {
  /**
   * @returns the same body, which fails once it lasts and its caller has no place for it; `undefined` when the caller
   *   has none now.
   */
  bound(body: BodyStream, caller: Caller, address: string | undefined): BodyStream | undefined
}

/** Most answers of a page are written within it, also over a slow line. */
const longFromMs = 2_000

/**
 * Long answers hold a view of the store each, of which there are few. A caller who takes its answers slowly could hold
 * them all, so an answer that lasts for more than two seconds needs a place of its caller's.
 *
 * @param places - of long answers at the same time.
 */
export function createLongAnswers(places: Places, clock: Clock = steadyClock): LongAnswers {
  return {
    bound(body, caller, address) {
      const free = places.take(caller, address)
      if (free === undefined) return undefined
      free()
      const longAtMs = clock.now() + longFromMs
      let giveBack: (() => void) | undefined
      const bounded: BodyStream = {
        async next() {
          if (giveBack === undefined && clock.now() >= longAtMs) {
            giveBack = places.take(caller, address)
            if (giveBack === undefined) {
              await body.return()
              throw new Error('the caller has too many long answers')
            }
          }
          return body.next()
        },
        return: () => body.return()
      }
      return onceEnded(bounded, () => giveBack?.())
    }
  }
}
