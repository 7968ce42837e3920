import { hash } from 'node:crypto'
import { type HistoryAnswer, openStream, parseExactly, type Service } from './askService.ts'
import { AccountFold, type Change, type HistoryRecord } from './foldChanges.ts'
import type { Follower, TrailEvent } from './followAccounts.ts'

/** A history that was read at some moment, whatever happened at that moment. */
export interface Sample extends Pick<HistoryAnswer, 'cursor' | 'text'> {
  readonly address: string
}

const atOnce = 8

/**
 * Compares histories with the fold at exactly their cursors. The stream that begins at a cursor
 * shows where it is: its events must be, byte for byte, the last ones of those that were followed, and the events before them must
 * fold to the history.
 *
 * @param choose - where to ask next.
 * @returns what differs; `[]` when nothing does.
 */
export async function checkSamples(
  { addresses, base, events }: Follower,
  samples: readonly Sample[],
  choose: () => Service
): Promise<string[]> {
  const found: string[] = []
  for (const address of addresses) {
    const own = eventsOf(events, address)
    // One cursor and text, many samples: an account at rest.
    const distinct = new Map(
      samples
        .filter(sample => sample.address === address)
        .map(sample => [`${sample.cursor} ${sample.text}`, sample])
    )
    const digests = digestsOf(base.get(address) ?? [], own)
    const waiting = [...distinct.values()]
    const check = async () => {
      for (let sample = waiting.pop(); sample !== undefined; sample = waiting.pop()) {
        const problem = await checkSample(sample, own, digests, choose())
        if (problem !== undefined) found.push(`${address} at ${sample.cursor}: ${problem}`)
      }
    }
    await Promise.all(Array.from({ length: atOnce }, check))
  }
  return found
}

async function checkSample(
  { address, cursor, text }: Sample,
  own: readonly TrailEvent[],
  digests: readonly string[],
  service: Service
): Promise<string | undefined> {
  const last = own.at(-1)?.id ?? ''
  // Of one index the later cursor is the greater text. What comes after the last event may still be on its way.
  const replayed = cursor >= last ? [] : await replay(service, address, cursor, last)
  const from = own.length - replayed.length
  if (from < 0) return `${replayed.length} events come after it, of ${own.length}`
  for (const [place, { id, change }] of replayed.entries()) {
    const first = own[from + place]
    const [got, followed] = [JSON.stringify(change), JSON.stringify(first?.change)]
    if (id !== first?.id || got !== followed) {
      return `event ${from + place} is ${id} ${got}, it was ${first?.id} ${followed}`
    }
  }
  const wanted = digest(text)
  if (digests[from] === wanted) return undefined
  const equals = digests.flatMap((each, place) => (each === wanted ? [place] : []))
  return `the history is not the fold of the ${from} events before it, of ${own.length}, but of ${equals.join(' or ') || 'no number of them'}`
}

/** The events after a cursor, up to one that is known, or until the stream says that there are no more. */
async function replay(service: Service, address: string, after: string, last: string): Promise<TrailEvent[]> {
  const events: TrailEvent[] = []
  for await (const { id, data } of await openStream(service, [address], { after })) {
    const change = parseExactly(data) as Change | { kind: 'synced' }
    if (change.kind === 'synced') break
    events.push({ id, change: change as Change })
    if (id === last) break
  }
  return events
}

/** What a stream of this account alone shows of them. */
function eventsOf(events: readonly TrailEvent[], address: string): TrailEvent[] {
  return events.flatMap(({ id, change }) => {
    const addresses = change.addresses.filter(each => each.toLowerCase() === address.toLowerCase())
    return addresses.length === 0 ? [] : [{ id, change: { ...change, addresses } }]
  })
}

/** Digests of the history after each number of events. */
function digestsOf(base: readonly HistoryRecord[], events: readonly TrailEvent[]): string[] {
  const fold = new AccountFold(base)
  const digests = [digest(fold.text())]
  for (const { change } of events) {
    fold.apply(change)
    digests.push(digest(fold.text()))
  }
  return digests
}

const digest = (text: string) => hash('sha256', text)
