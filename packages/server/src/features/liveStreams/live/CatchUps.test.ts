import type { Address } from '@chain-data/index'
import { type AccountChange, ChangesExpiredError } from '@chain-data/index'
import { expect, test } from 'vitest'
import type { FeedReader } from './Audience.ts'
import { CatchUps } from './CatchUps.ts'
import type { PartOrder, ReplayedPart } from './readPart.ts'

const end = 10
const at = (entry: number) => ({ entry, index: 0 })
const addressOf = (name: string): Address => `0x${name.charCodeAt(0).toString(16).padStart(40, '0')}`
const never = new AbortController().signal

/** A stream, and the entries that it was given. */
function createReader(name: string, from: number, room = Number.POSITIVE_INFINITY) {
  const taken: number[] = []
  const reader: FeedReader & { readonly taken: readonly number[] } = {
    ...{ log: 'one', addresses: new Set([addressOf(name)]), position: at(from), taken },
    take({ position }) {
      if (taken.length >= room) return false
      taken.push(position.entry)
      Object.assign(reader, { position })
      return true
    },
    skipTo(position) {
      if (position.entry > reader.position.entry) Object.assign(reader, { position })
    },
    reach() {},
    leftBehind() {},
    end() {}
  }
  return reader
}

/** Replays a log in which each entry is of everybody, some entries at a time; positions before `oldest` are expired. */
function createCatchUps(entriesEach: number, oldest = 0, onOrder = () => {}) {
  const orders: string[] = []
  const replay = async ({ after, watched }: PartOrder): Promise<ReplayedPart> => {
    const names = Array.from(watched, key => String.fromCharCode(key))
    orders.push(`${names.join()} after ${after.entry}`)
    onOrder()
    await new Promise(setImmediate)
    if (after.entry < oldest) throw new ChangesExpiredError('too old')
    const last = Math.min(end, after.entry + entriesEach)
    const changes = Array.from({ length: last - after.entry }, (_, index) => {
      return {
        position: at(after.entry + 1 + index),
        parties: names.map(addressOf)
      } as unknown as AccountChange
    })
    return { changes, position: at(last), ...(last === end && { level: { position: at(end) } }) }
  }
  return { orders, catchUps: new CatchUps(replay, () => true) }
}

test('streams share a pass, whatever positions they come from, and see each change once', async () => {
  const { orders, catchUps } = createCatchUps(5)
  const readers = [createReader('a', 3), createReader('b', 0), createReader('c', 7)]
  const ends = readers.map(reader => catchUps.catchUp(reader, 'project', never))
  expect(await Promise.all(ends)).toEqual([true, true, true])
  expect(orders).toEqual(['a,b,c after 0', 'a,b,c after 5'])
  expect(readers.map(({ taken }) => taken)).toEqual([
    [4, 5, 6, 7, 8, 9, 10],
    [1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
    [8, 9, 10]
  ])
})

test('projects take turns, and share every second one', async () => {
  const { orders, catchUps } = createCatchUps(4)
  const many = Array.from({ length: 20 }, () => catchUps.catchUp(createReader('a', 0), 'many', never))
  const one = catchUps.catchUp(createReader('b', 0), 'one', never)
  await Promise.all([...many, one])
  expect(orders).toEqual(['a after 0', 'a,b after 0', 'b after 4', 'a,b after 4', 'a after 8', 'b after 8'])
})

test('a stream that has missed little does not wait for a project that has missed more', async () => {
  const [late, little] = [createReader('a', 0), createReader('b', 9)]
  const ends: Promise<boolean>[] = []
  const { orders, catchUps } = createCatchUps(1, 0, () => {
    if (orders.length === 3) ends.push(catchUps.catchUp(little, 'little', never))
  })
  await catchUps.catchUp(late, 'late', never)
  await Promise.all(ends)
  expect(orders.slice(3, 5)).toEqual(['a,b after 3', 'b after 9'])
})

test('a stream joins the pass that has not come to it, and waits for the next one where it has', async () => {
  const [earlier, later] = [createReader('b', 2), createReader('c', 8)]
  const ends: Promise<boolean>[] = []
  const { orders, catchUps } = createCatchUps(3, 0, () => {
    if (orders.at(-1) !== 'a after 3') return
    for (const reader of [earlier, later]) ends.push(catchUps.catchUp(reader, 'project', never))
  })
  await catchUps.catchUp(createReader('a', 0), 'project', never)
  await Promise.all(ends)
  expect(orders.slice(0, 4)).toEqual(['a after 0', 'a after 3', 'a,c after 6', 'a,c after 9'])
  expect(orders.slice(4)).toEqual(['b after 2', 'b after 5', 'b after 8'])
  expect(earlier.taken).toEqual([3, 4, 5, 6, 7, 8, 9, 10])
  expect(later.taken).toEqual([9, 10])
})

test('a stream without room leaves the pass, and goes on from its position', async () => {
  const { catchUps } = createCatchUps(end)
  const full = createReader('a', 0, 3)
  const others = createReader('b', 0)
  const ends = [full, others].map(reader => catchUps.catchUp(reader, 'project', never))
  expect(await Promise.all(ends)).toEqual([false, true])
  expect(full.position).toEqual(at(3))
  expect(others.taken).toHaveLength(end)
})

test('an expired position ends the streams that have it, and no others of the project', async () => {
  const { catchUps } = createCatchUps(end, 2)
  const [old, kept] = [createReader('a', 1), createReader('b', 2)]
  const ends = [old, kept].map(reader => catchUps.catchUp(reader, 'project', never))
  await expect(ends[0]).rejects.toThrow(ChangesExpiredError)
  expect(await ends[1]).toBe(true)
  expect(kept.taken).toEqual([3, 4, 5, 6, 7, 8, 9, 10])
})

test('a stream whose caller has gone is given nothing more', async () => {
  const { orders, catchUps } = createCatchUps(1)
  const gone = new AbortController()
  const reader = createReader('a', 0)
  const ended = catchUps.catchUp(reader, 'project', gone.signal)
  gone.abort(new Error('gone'))
  await expect(ended).rejects.toThrow('gone')
  expect(reader.taken.length).toBeLessThan(2)
  expect(orders.length).toBeLessThan(3)
})
