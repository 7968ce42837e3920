import { setTimeout as sleep } from 'node:timers/promises'
import { eventually } from '@chain-data/index/test'
import { openStream, parseExactly, RefusedError, readHistory, type Service } from './askService.ts'
import { AccountFold, type Change, type HistoryRecord } from './foldChanges.ts'

/** An event that told of a change. */
export interface TrailEvent {
  readonly id: string
  readonly change: Change
}

/** Some accounts followed by their events. */
export interface Follower {
  readonly addresses: readonly string[]
  /** The cursor that it began at. */
  readonly from: string
  /** The histories at this cursor, by address. */
  readonly base: ReadonlyMap<string, readonly HistoryRecord[]>
  /** Every event so far that told of a change. */
  readonly events: readonly TrailEvent[]
  readonly counts: { connections: number; cuts: number; endedByServer: number; synced: number }
  /** The last cursor that was read. */
  position(): string
  /** Ends the connection, whatever is on its way; what was not read yet has to come again. */
  cut(): void
  /** Resolves once the fold of every account is its history. @throws {Error} An event that does not fit; not in time. */
  settle(): Promise<void>
  /** @throws {Error} An event did not fit. */
  stop(): Promise<void>
}

/** Reasons that end by themselves: a server that starts, ends or has to follow its node first. */
const passing: readonly string[] = ['UPSTREAM_UNAVAILABLE', 'NOT_SYNCED', 'OVERLOADED', 'INTERNAL']
const pauseMs = 10
/** A machine that is busy may take so long for a history. */
const answerMs = 30_000

/**
 * Reads the histories of some accounts at one cursor and folds the events from there on, over any number of connections.
 *
 * @param choose - where to ask next; called for each connection and each history.
 * @param options.patienceMs - how long the events may take to come.
 */
export async function followAccounts(
  addresses: readonly string[],
  choose: () => Service,
  { patienceMs = 30_000 } = {}
): Promise<Follower> {
  const { cursor, base } = await readTogether(addresses, choose)
  const folds = new Map(
    [...base].map(([address, records]) => [address.toLowerCase(), new AccountFold(records)])
  )
  const events: TrailEvent[] = []
  const counts = { connections: 0, cuts: 0, endedByServer: 0, synced: 0 }
  let [position, last] = [cursor, cursor]
  let connection = new AbortController()
  let isOver = false
  let failure: Error | undefined

  function take(id: string, data: string): void {
    const value = parseExactly(data) as Change | { kind: 'synced'; finalized?: number }
    if (id === '') throw new Error(`an event without an id: ${data}`)
    position = id
    if (value.kind === 'synced') {
      counts.synced++
      if (value.finalized !== undefined) for (const fold of folds.values()) fold.finalizedTo(value.finalized)
      return
    }
    if (id <= last) throw new Error(`the id ${id} comes after ${last}`)
    last = id
    const change = value as Change
    events.push({ id, change })
    if (change.addresses.length === 0) throw new Error(`an event for nobody: ${data}`)
    for (const address of change.addresses) {
      const fold = folds.get(address.toLowerCase())
      if (fold === undefined) throw new Error(`an event for ${address}, which is not watched: ${data}`)
      fold.apply(change)
    }
  }

  async function run(): Promise<void> {
    for (; !isOver; await sleep(pauseMs)) {
      connection = new AbortController()
      const { signal } = connection
      try {
        // By turns, since both are promised.
        const resume = counts.connections % 2 === 0 ? { after: position } : { lastEventId: position }
        const stream = await openStream(choose(), addresses, { ...resume, signal })
        counts.connections++
        for await (const { id, data } of stream) {
          if (signal.aborted) break
          try {
            take(id, data)
          } catch (error) {
            failure = new Error(`after ${events.length} events, at ${id}: ${(error as Error).message}`, {
              cause: error
            })
            return
          }
        }
        if (!signal.aborted) counts.endedByServer++
      } catch (error) {
        // Connections that are cut or refused are part of the game; refusals that do not pass are not.
        if (!(error instanceof RefusedError) || passing.includes(error.reason)) continue
        failure = error
        return
      }
    }
  }
  const ended = run()

  return {
    addresses,
    from: cursor,
    base,
    events,
    counts,
    position: () => position,
    cut() {
      counts.cuts++
      connection.abort()
    },
    async settle() {
      let difference = 'no history yet'
      const isSettled = async () => {
        for (const address of addresses) {
          if (failure !== undefined) throw failure
          const history = await readPatiently(choose, address)
          const folded = folds.get(address.toLowerCase())?.text() ?? ''
          if (folded === history.text) continue
          difference = describeDifference(address, folded, history.text)
          return false
        }
        return true
      }
      await eventually('every fold is its history', isSettled, patienceMs).catch((error: Error) => {
        throw new Error(`${error.message}: ${difference}`, { cause: error })
      })
    },
    async stop() {
      isOver = true
      connection.abort()
      await ended
      if (failure !== undefined) throw failure
    }
  }
}

/** Histories of one moment: they are read again until all of them have the same cursor. */
async function readTogether(addresses: readonly string[], choose: () => Service) {
  return eventually(
    'histories of one cursor',
    async () => {
      const base = new Map<string, readonly HistoryRecord[]>()
      const cursors = new Set<string>()
      for (const address of addresses) {
        const { cursor, records } = await readPatiently(choose, address)
        base.set(address, records)
        cursors.add(cursor)
      }
      const [cursor = ''] = cursors
      return cursors.size === 1 && { cursor, base }
    },
    answerMs
  )
}

/** Reads a history, from whoever can give it. */
export function readPatiently(choose: () => Service, address: string) {
  return eventually(
    `a history of ${address}`,
    () =>
      readHistory(choose(), address).catch((error: Error) => {
        if (error instanceof RefusedError && !passing.includes(error.reason)) throw error
        // Whoever was asked may be gone.
        if (!(error instanceof RefusedError) && !isConnectionError(error)) throw error
        return undefined
      }),
    answerMs
  )
}

/** What `fetch` throws when there is no whole answer. */
function isConnectionError(error: Error): boolean {
  return error instanceof TypeError
}

function describeDifference(address: string, folded: string, history: string): string {
  const summary = (text: string) =>
    (JSON.parse(text) as { hash: string; status: number; blockNumber?: number }[])
      .map(({ hash, status, blockNumber }) => `${hash.slice(0, 10)} ${status} ${blockNumber ?? '-'}`)
      .join(', ')
  let place = 0
  while (folded[place] === history[place]) place++
  const cut = (text: string) => text.slice(Math.max(0, place - 60), place + 60)
  return `${address}: folded [${summary(folded).slice(0, 700)}], read [${summary(history).slice(0, 700)}]; first at ${place}: …${cut(folded)}… and …${cut(history)}…`
}
