import { expect, test } from 'vitest'
import { chunkCalls, piecesOf } from './chunkCalls.ts'
import { type ContractCall, encodeCalls, entryBytes } from './contractCalls.ts'
import { maxInputBytes } from './sendCalls.ts'

const call = (dataBytes: number, gas = 500_000): ContractCall => ({
  to: '0x0000000000000000000000000000000000001000',
  data: `0x${'ab'.repeat(dataBytes)}`,
  gas,
  maxReturnBytes: 32
})
const places = (count: number) => Array.from({ length: count }, (_, i) => i)

test('calls that share an input fit into it, in order, each once', () => {
  const calls = places(2_000).map(i => call(36 + (i % 200)))
  const chunks = chunkCalls(calls, places(2_000), { calls: 512 })
  expect(chunks.flat()).toEqual(places(2_000))
  for (const chunk of chunks) {
    const input = encodeCalls(
      chunk.map(place => calls[place]!),
      1_000
    )
    expect(input.length / 2).toBeLessThanOrEqual(maxInputBytes)
    expect(input.length / 2).toBe(4 + chunk.reduce((sum, place) => sum + entryBytes(calls[place]!), 0))
  }
})

test('calls that travel each for itself share gas and a batch', () => {
  const calls = places(300).map(i => call(4, i < 100 ? 500_000 : 30_000_000))
  const chunks = chunkCalls(calls, places(300), { calls: 512, gas: 100_000_000 })
  expect(chunks[0]).toHaveLength(99)
  expect(chunks.flat()).toEqual(places(300))
  for (const chunk of chunks.slice(2)) expect(chunk.length).toBeLessThanOrEqual(3)
})

test.each([1, 2, 3, 7, 64, 99, 512])('of %i calls each is alone in the third exchange', count => {
  const pieces = piecesOf(places(count), false)
  expect(pieces.flat()).toEqual(places(count))
  for (const piece of pieces) {
    const singles = piecesOf(piece, true)
    expect(singles).toEqual(piece.map(place => [place]))
  }
})
