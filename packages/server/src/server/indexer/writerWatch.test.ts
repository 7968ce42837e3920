import type { WriterReport } from '@chain-data/index'
import { beforeEach, expect, it } from 'vitest'
import { createWriterWatch, type WriterWatch } from './writerWatch.ts'

const silentAfterMs = 5_000
const wallAheadMs = 1_700_000_000_000
const report = (beat: number): WriterReport => ({ beat, phase: 'following', poolCovered: true })

let nowMs: number
let wallMs: number
let watch: WriterWatch
beforeEach(() => {
  nowMs = 0
  wallMs = wallAheadMs
  watch = createWriterWatch({ silentAfterMs, steady: { now: () => nowMs }, wall: { now: () => wallMs } })
})

function later(ms: number): void {
  nowMs += ms
  wallMs += ms
}

it('a report counts once another one was seen before it: one that was there already may be of any age', () => {
  expect(watch.look(report(7)).kind).toBe('listening')
  later(900)
  expect(watch.look(report(7)).kind).toBe('listening')
  later(100)
  expect(watch.look(report(8))).toEqual({
    ...{ kind: 'heard', report: report(8) },
    // That of the look before, which did not see it yet.
    writtenAtMs: wallAheadMs + 900
  })
})

it('the first report of a store counts only together with the next one', () => {
  watch.look(undefined)
  later(100)
  expect(watch.look(report(1)).kind).toBe('listening')
  later(100)
  expect(watch.look(report(2)).kind).toBe('heard')
})

it('a report that could not be read once is neither news nor silence', () => {
  watch.look(report(1))
  later(100)
  expect(watch.look(undefined).kind).toBe('listening')
  later(100)
  expect(watch.look(report(1)).kind).toBe('listening')
  later(100)
  watch.look(report(2))
  later(100)
  expect(watch.look(undefined).kind).toBe('listening')
  later(100)
  // Whoever did not see for a while dates what comes then from before.
  expect(watch.look(report(3))).toMatchObject({ kind: 'heard', writtenAtMs: wallAheadMs + 300 })
})

it('a writer that says nothing new is believed for the bound and not longer, and again once it speaks', () => {
  watch.look(report(1))
  later(100)
  watch.look(report(2))
  later(silentAfterMs - 100)
  expect(watch.look(report(2)).kind).toBe('heard')
  later(1)
  expect(watch.look(report(2))).toEqual({ kind: 'silent', silentMs: silentAfterMs + 1 })
  later(60_000)
  expect(watch.look(report(2))).toMatchObject({ kind: 'silent' })
  later(100)
  // A lower number is as good as a higher one.
  expect(watch.look(report(1)).kind).toBe('heard')
})

it('a writer that never said anything is silent after the bound, also where an old report lies there', () => {
  watch.look(report(1))
  later(silentAfterMs)
  expect(watch.look(report(1)).kind).toBe('listening')
  later(1)
  expect(watch.look(report(1)).kind).toBe('silent')
})

it('after a pause of the listener itself, nothing is believed that may have been said at its beginning', () => {
  watch.look(report(1))
  later(100)
  watch.look(report(2))
  later(3_600_000)
  expect(watch.look(report(3)).kind).toBe('silent')
  later(100)
  expect(watch.look(report(4)).kind).toBe('heard')
})

it('a wall clock that is set changes nothing of what is believed', () => {
  watch.look(report(1))
  later(100)
  wallMs -= 86_400_000
  expect(watch.look(report(2)).kind).toBe('heard')
  wallMs += 2 * 86_400_000
  later(100)
  expect(watch.look(report(2)).kind).toBe('heard')
  later(100)
  expect(watch.look(report(3))).toMatchObject({ kind: 'heard', writtenAtMs: wallMs - 100 })
})
