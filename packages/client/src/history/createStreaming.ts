import { hasReason } from '../hasReason.ts'
import { type WatchConnection, watchAddresses } from '../watch/watchAddresses.ts'
import { createPolling, type FedList, type HistoryFeed } from './HistoryFeed.ts'

/**
 * A feed by the stream of `watchAddresses`: the list reads its newest records when the service reports a change of them, and at
 * no other time.
 *
 * Where the host offers no stream, in React Native, and while a stream is connected again, it polls; `isStreamed` of the
 * snapshot reports which. A cursor that is too old costs one reading.
 *
 * @param pollMs - Milliseconds between an answer and the next call while it polls. Default 4 000.
 * @returns A feed for one list.
 * @remarks Each list holds one connection while somebody is subscribed to it and it is visible. Over HTTP/1.1 a browser has six to a
 *   host, for all its tabs together.
 * @example
 * const history = createLiveHistory(client, { chainId: 1, address, feed: createStreaming() })
 */
export function createStreaming(pollMs?: number): HistoryFeed {
  const polling = createPolling(pollMs)
  let list: (FedList & { readonly changed: () => void }) | undefined
  let watching: AbortController | undefined
  let isStreamed = false
  let isOffered = true

  async function watch(
    after: string,
    { changed, unchangedTo, client, chainId, address }: NonNullable<typeof list>
  ) {
    const ending = new AbortController()
    watching = ending
    const stopped = () => {
      const wasStreamed = isStreamed
      isStreamed = false
      // Otherwise the list polls already.
      if (wasStreamed) changed()
    }
    try {
      const call = { chainId, addresses: [address], after, signal: ending.signal, onReconnect: stopped }
      for await (const event of watchAddresses(client as WatchConnection, call)) {
        isStreamed = true
        if (event.kind === 'synced') unchangedTo(event.head.blockNumber)
        else if (event.kind !== 'final') changed()
      }
    } catch (error) {
      // The next answer has a cursor that is not too old. Nothing else would be better next time.
      if (!ending.signal.aborted) isOffered = hasReason(error, 'CURSOR_EXPIRED')
    }
    if (watching !== ending) return
    watching = undefined
    stopped()
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
