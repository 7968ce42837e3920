import type { Hex } from '@chain-data/index'
import { getBytes, keccak256 } from 'ethers'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { NodeContradictionError } from '../../../platform/errors.ts'
import { LogsBloom } from './logsBloom.ts'

const seed = Number(process.env.CHAIN_DATA_TEST_SEED ?? 1)

/** The bloom by the library's hash, bit by bit. */
function textOf(values: readonly Hex[]): string {
  let bits = 0n
  for (const value of values) {
    const hash = getBytes(keccak256(value))
    for (const i of [0, 2, 4]) bits |= 1n << BigInt(((hash[i] ?? 0) * 256 + (hash[i + 1] ?? 0)) % 2048)
  }
  return `0x${bits.toString(16).padStart(512, '0')}`
}

const one: Hex = `0x${'01'.repeat(20)}`

function bloomOf(values: readonly Hex[]): LogsBloom {
  const bloom = new LogsBloom()
  for (const value of values) bloom.add(value)
  return bloom
}

describe('the bloom of logs', () => {
  it(`has for each value the bits that its hash names (seed ${seed}, CHAIN_DATA_TEST_SEED repeats it)`, () => {
    const value = fc
      .oneof(...[4, 20, 32, 132].map(length => fc.uint8Array({ minLength: length, maxLength: length })))
      .map((bytes): Hex => `0x${Buffer.from(bytes).toString('hex')}`)
    fc.assert(
      fc.property(fc.array(value, { maxLength: 6 }), fc.nat({ max: 2047 }), (values, bit) => {
        const stated = textOf(values)
        const bloom = bloomOf([...values, ...values])
        expect(bloom.compare(stated, 'it')).toBeUndefined()
        const other = BigInt(stated) ^ (1n << BigInt(bit))
        const fault = other === 0n ? 'emptyBloom' : 'logsBloom'
        expect(bloom.compare(`0x${other.toString(16).padStart(512, '0')}`, 'it')).toBe(fault)
      }),
      { seed, numRuns: 200 }
    )
  })

  it('of many values is the same when they are forgotten in between', () => {
    const values = Array.from({ length: 40_000 }, (_, i): Hex => `0x${i.toString(16).padStart(40, '0')}`)
    bloomOf(values)
    for (const value of [values[0], values[39_999], values[7]] as Hex[]) {
      expect(bloomOf([value]).compare(textOf([value]), 'it')).toBeUndefined()
    }
  })

  it('is empty again once it is cleared', () => {
    const bloom = bloomOf([one])
    bloom.clear()
    expect(bloom.compare(textOf([]), 'it')).toBeUndefined()
    expect(bloom.compare(textOf([one]), 'it')).toBe('logsBloom')
  })

  it('is read in upper case and with any number of zeros, and is none where the node leaves it out', () => {
    const [bloom, empty] = [bloomOf([one]), bloomOf([])]
    const text = textOf([one])
    expect(bloom.compare(text.toUpperCase(), 'it')).toBeUndefined()
    for (const zero of ['0x0', '0x00', `0x${'0'.repeat(512)}`]) {
      expect(empty.compare(zero, 'it')).toBeUndefined()
      expect(bloom.compare(zero, 'it')).toBe('emptyBloom')
    }
    for (const none of [undefined, null, '', '0x']) expect(bloom.compare(none, 'it')).toBeUndefined()
    for (const odd of [5, '0x1', 'zero', `zz${text.slice(2)}`]) {
      expect(() => bloom.compare(odd, 'it')).toThrow(NodeContradictionError)
    }
  })
})
