import { type Address, ChangesExpiredError, type StoreReader, type SyncStatus } from '@chain-data/index'
import type { FormatAddress } from '../../platform/addressFormat.ts'
import type { Clock } from '../../platform/clock.ts'
import { Refusal } from '../../platform/refusal.ts'
import { type Cursor, parseCursor } from '../../server/methods/cursor.ts'
import {
  chainOf,
  type Handlers,
  type MethodContext,
  ResultEvents
} from '../../server/methods/MethodContext.ts'
import { openSettled, openUsable, requireReady } from '../../server/methods/requireCurrent.ts'
import { createEventTexts } from './createEventTexts.ts'
import type { EventFigures } from './eventFigures.ts'
import { ChangeFeed } from './live/ChangeFeed.ts'
import { EventStream } from './live/EventStream.ts'
import { openAt } from './live/openAt.ts'
import type { PartOrder, ReplayedPart } from './live/readPart.ts'

/** One chain whose accounts can be watched. */
interface WatchedChain {
  readonly chainId: number
  readonly reader: Pick<StoreReader, 'openSnapshot' | 'onCommit'>
  status(): SyncStatus
}

export interface WatchOptions {
  readonly chains: ReadonlyMap<number, WatchedChain>
  readonly serveWhileSyncing: boolean
  readonly formatAddress: FormatAddress
  readonly clock: Clock
  /** Replays the log of a chain for streams that have not seen all of it. */
  readonly replay: (chainId: number, order: PartOrder) => Promise<ReplayedPart>
  /** Called with each failure to read the changes of a chain for streams, which is tried again. */
  readonly onFailure: (chainId: number, failure: unknown) => void
}

/** The streams of a server. */
export interface WatchedAddresses {
  readonly handler: Handlers['svc_watchAddresses']
  /** One for each chain. */
  figures(): readonly EventFigures[]
}

/** Answers the changes of histories as a stream of events. A stream reads the index when it begins, and shares reading it after that. */
export function createWatchAddresses(options: WatchOptions): WatchedAddresses {
  const { chains, serveWhileSyncing, formatAddress, clock, replay, onFailure } = options
  const textsWith = createEventTexts(formatAddress)
  const served = new Map(
    [...chains].map(([chainId, chain]) => [
      chainId,
      {
        ...chain,
        feed: new ChangeFeed(
          chain.reader,
          order => replay(chainId, order),
          failure => onFailure(chainId, failure)
        ),
        streams: new Set<EventStream>(),
        ended: { sent: 0, behind: 0 }
      }
    ])
  )

  /** @returns the cursor of the newest histories. */
  async function readNow(chain: WatchedChain, context: MethodContext): Promise<Cursor> {
    const { snapshot, status } = await openSettled(chain, context)
    try {
      await requireReady(snapshot, status, { isFirstPage: true, serveWhileSyncing, nowMs: clock.now() })
      const { log, newest } = await snapshot.changeBounds()
      return { log, position: newest }
    } finally {
      await snapshot.close()
    }
  }

  /** @throws {Refusal} CURSOR_EXPIRED: the changes after this cursor are not kept. */
  async function checkKept(chain: WatchedChain, text: string, context: MethodContext) {
    const cursor = parseCursor(text)
    // Of another server, or an earlier version: whoever holds it reads the history again, as after any other that is too old.
    if (cursor === undefined) throw expired(chain.chainId)
    // Why an index cannot be used is said best there.
    await (await openUsable(chain, context)).snapshot.close()
    try {
      const { snapshot } = await openAt(chain.reader, cursor, context.signal)
      try {
        await snapshot.requireKept(cursor.position)
      } finally {
        await snapshot.close()
      }
    } catch (error) {
      if (error instanceof ChangesExpiredError) throw expired(chain.chainId)
      throw error
    }
    return cursor
  }

  return {
    async handler([given, { after, include = [] } = {}], context) {
      const chain = chainOf(served, context)
      const { feed, streams, ended } = chain
      const addresses = new Set(given.map(address => address.toLowerCase() as Address))
      // A reader that reconnects sends the body of its first request again.
      const cursor = context.lastEventId ?? after
      const from =
        cursor === undefined ? await readNow(chain, context) : await checkKept(chain, cursor, context)
      context.signal.throwIfAborted()
      const stream: EventStream = new EventStream(feed, {
        ...{ addresses, from, texts: textsWith(include), oneAddressEach: include.length > 0 },
        projectId: context.projectId ?? '',
        onFailure: failure => onFailure(chain.chainId, failure),
        onEnd() {
          streams.delete(stream)
          ended.sent += stream.sent
          ended.behind += stream.behind
        }
      })
      streams.add(stream)
      return new ResultEvents(stream)
    },
    figures: () =>
      [...served.values()].map(({ chainId, streams, ended }) => {
        const all = [...streams]
        const sum = (count: (stream: EventStream) => number) =>
          all.reduce((total, each) => total + count(each), 0)
        return {
          chainId,
          streams: streams.size,
          sent: ended.sent + sum(({ sent }) => sent),
          behind: ended.behind + sum(({ behind }) => behind)
        }
      })
  }
}

function expired(chainId: number): Refusal {
  return new Refusal(
    'CURSOR_EXPIRED',
    `Chain ${chainId}: the changes after this cursor are not kept any more. Read the history again and watch from the x-chain-data-cursor of its first page.`,
    {}
  )
}
