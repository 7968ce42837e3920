import { createParser } from 'eventsource-parser'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createEventReader, type ServerSentEvent } from './createEventReader.ts'

const seed = Number(process.env.SEED ?? 1)

/** What the package reads, which has nothing in common with our reader. */
function readByPackage(chunks: readonly Uint8Array[]): ServerSentEvent[] {
  const events: ServerSentEvent[] = []
  const parser = createParser({
    onEvent: ({ id, data }) => void events.push({ ...(id !== undefined && { id }), data })
  })
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  for (const chunk of chunks) parser.feed(decoder.decode(chunk, { stream: true }))
  return events
}

const value = fc.oneof(
  fc.constantFrom('', ' ', 'a', '{"kind":"added"}', 'é🔑', '\u2028', ':', ' two  spaces', '\ufeff', 'a\0b'),
  fc.string({ unit: 'binary', maxLength: 8 })
)
const line = fc.oneof(
  { weight: 6, arbitrary: fc.tuple(fc.constantFrom('data', 'id'), fc.constantFrom(':', ': '), value) },
  fc.tuple(
    fc.constantFrom('event', 'retry', '', 'Data', 'data', 'id', 'x'),
    fc.constantFrom('', ':', ': '),
    value
  )
)
const lineEnd = fc.constantFrom('\n', '\r\n', '\r')
const streams = fc.record({
  mark: fc.constantFrom('', '\ufeff'),
  lines: fc.array(
    fc.tuple(
      fc.oneof(
        line.map(parts => parts.join('').replace(/[\r\n]/g, '')),
        fc.constant('')
      ),
      lineEnd
    ),
    { maxLength: 30 }
  ),
  cuts: fc.array(fc.nat(400), { maxLength: 20 })
})

test('reads what another parser reads, wherever the body is split', () => {
  fc.assert(
    fc.property(streams, ({ mark, lines, cuts }) => {
      // The end settles what a last carriage return is.
      const text = `${mark}${lines.map(parts => parts.join('')).join('')}:\n\n`
      const bytes = new TextEncoder().encode(text)
      const places = [0, ...cuts.filter(cut => cut < bytes.length).toSorted((a, b) => a - b), bytes.length]
      const chunks = places.slice(1).map((end, at) => bytes.subarray(places[at], end))
      const read = createEventReader()
      const decoder = new TextDecoder()
      expect(chunks.flatMap(chunk => read(decoder.decode(chunk, { stream: true })))).toEqual(
        readByPackage(chunks)
      )
    }),
    { seed, numRuns: Number(process.env.RUNS ?? 2_000) }
  )
})

test('gives a message with the chunk that completes it, and none that is cut off', () => {
  const feed = createEventReader()
  expect(feed('id: 1\ndata: one\n')).toEqual([])
  expect(feed('\nid: 2\ndata: t')).toEqual([{ id: '1', data: 'one' }])
  expect(feed('wo\n\n: alive\n\ndata: three\n')).toEqual([{ id: '2', data: 'two' }])
})
