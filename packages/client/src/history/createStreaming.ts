import { hasReason } from '../hasReason.ts'
import { type AddressEvent, type WatchConnection, watchAddresses } from '../watch/watchAddresses.ts'
import { foldEvents } from './foldEvents.ts'
import { createPolling, type FedList, type HistoryFeed } from './HistoryFeed.ts'

/** Most events that wait for their `synced`: one page is less. */
const mostWaiting = 1_000

/**
 * A feed by the stream of `watchAddresses`: the changes that the service reports are applied to the list, all of a block or of a
 * reorg at once, without a call.
 *
 * The newest records are read where the changes do not tell them: those that a removed record leaves room for at the end of the
 * first page, those of an account with more pending records than the list holds, and all after a cursor that is too old. Where
 * the host offers no stream, in React Native, and while a stream is away for longer than `pollMs`, the list polls; `isStreamed`
 * of the snapshot reports which.
 *
 * @param pollMs - Milliseconds between an answer and the next call while it polls. Default 4 000.
 * @returns A feed for one list.
 * @remarks Each list holds one connection while somebody is subscribed to it and it is visible. Over HTTP/1.1 a browser has six to a
 *   host, for all its tabs together.
 * @example
 * const history = createLiveHistory(client, { chainId: 1, address, feed: createStreaming() })
 */
export function createStreaming(pollMs = 4_000): HistoryFeed {
  const polling = createPolling(pollMs)
  let list: (FedList & { readonly changed: (waitMs?: number) => void }) | undefined
  let watching: AbortController | undefined
  let isStreamed = false
  let isOffered = true

  async function watch(after: string, fed: NonNullable<typeof list>): Promise<void> {
    const { changed, client, chainId, address, include } = fed
    const ending = new AbortController()
    const { signal } = ending
    watching = ending
    const stopped = () => {
      isStreamed = false
      changed(pollMs)
    }
    let events: AddressEvent[] = []
    /** Where the list is, if the stream does not go on from there. */
    let elsewhere: string | undefined
    try {
      const call = { chainId, addresses: [address], after, include, signal, onReconnect: stopped }
      for await (const event of watchAddresses(client as WatchConnection, call)) {
        isStreamed = true
        if (event.kind === 'synced') {
          const at = await fed.advance(after, event, foldEvents.bind(undefined, events))
          if (at !== event.cursor) {
            elsewhere = at
            break
          }
          after = at
          events = []
        } else if (event.kind !== 'final') {
          // Of a host that says seldom that a stream is level, a page is sooner.
          changed(pollMs)
          if (events.push(event) > mostWaiting) break
        }
      }
    } catch (error) {
      // The next answer has a cursor that is not too old. Nothing else would be better next time.
      if (!signal.aborted) isOffered = hasReason(error, 'CURSOR_EXPIRED')
    }
    if (watching !== ending) return
    watching = undefined
    stopped()
    if (elsewhere) await watch(elsewhere, fed)
  }

  return {
    start(changed, fed) {
      list = { ...fed, changed }
      return () => {
        watching?.abort()
        list = watching = undefined
        isStreamed = false
      }
    },
    waitMs(read) {
      if (list && read.cursor && isOffered && !watching) void watch(read.cursor, list)
      return isStreamed ? Number.POSITIVE_INFINITY : polling.waitMs(read)
    },
    isStreamed: () => isStreamed
  }
}
