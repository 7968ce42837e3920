import { describe, expect, it, test } from 'vitest'
import { NodeContradictionError } from '../../platform/errors.ts'
import { type ContractCall, chunkCalls, encodeCalls, readResults } from './contractCalls.ts'
import { multicallProgram } from './multicallProgram.gen.ts'

const magic = Buffer.from('chain-data multicall result:').toString('hex')
const count = (value: number) => value.toString(16).padStart(8, '0')
const entry = (outcome: number, data = '') =>
  outcome.toString(16).padStart(2, '0') + (data.length / 2).toString(16).padStart(6, '0') + data

test('each outcome is read as what it means, and what is missing was not attempted', () => {
  const data = magic + count(5) + entry(0, 'c0ffee') + entry(1) + entry(2) + entry(3) + entry(4)
  expect(readResults(data, 7)).toEqual([
    { kind: 'returned', data: 'c0ffee' },
    { kind: 'reverted' },
    { kind: 'burnt' },
    { kind: 'tooLong' },
    undefined,
    undefined,
    undefined
  ])
})

test.each(['', '08c379a0', magic.slice(2), `00${magic}`])(
  'what somebody else wrote is not read: %s',
  data => {
    expect(readResults(data, 1)).toBeUndefined()
  }
)

describe('a result that contradicts itself is refused:', () => {
  const wrong: readonly [string, string][] = [
    ['no count', magic],
    ['more results than calls', magic + count(3) + entry(1) + entry(1) + entry(1)],
    ['no result at all', magic + count(0)],
    ['fewer results than it counts', magic + count(2) + entry(1)],
    ['data that is cut short', magic + count(1) + entry(0, 'c0ffee').slice(0, -2)],
    ['something behind the last result', `${magic}${count(1)}${entry(1)}00`],
    ['an outcome that there is not', magic + count(1) + entry(9)]
  ]
  it.each(wrong)('%s', (_what, data) => {
    expect(() => readResults(data, 2)).toThrow(NodeContradictionError)
  })
})

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
    // What initcode may have (EIP-3860), our code included.
    expect(input.length / 2 + multicallProgram.length / 2 - 1).toBeLessThanOrEqual(49_152)
  }
})

test('calls that travel each for itself share gas and a batch', () => {
  const calls = places(300).map(i => call(4, i < 100 ? 500_000 : 30_000_000))
  const chunks = chunkCalls(calls, places(300), { calls: 512, gas: 100_000_000 })
  expect(chunks[0]).toHaveLength(99)
  expect(chunks.flat()).toEqual(places(300))
  for (const chunk of chunks.slice(2)) expect(chunk.length).toBeLessThanOrEqual(3)
})
