import { describe, expect, it } from 'vitest'
import { readUiAmount } from './uiAmount.ts'

function scaled(multiplier: number, newMultiplier: number, seconds: bigint): Buffer {
  const value = Buffer.alloc(56)
  value.writeDoubleLE(multiplier, 32)
  value.writeBigInt64LE(seconds, 40)
  value.writeDoubleLE(newMultiplier, 48)
  return value
}

function interest(start: bigint, before: number, update: bigint, rate: number): Buffer {
  const value = Buffer.alloc(52)
  value.writeBigInt64LE(start, 32)
  value.writeInt16LE(before, 40)
  value.writeBigInt64LE(update, 42)
  value.writeInt16LE(rate, 50)
  return value
}

const read = (type: number, value: Uint8Array) => readUiAmount(new Map([[type, value]]))

describe('how the amounts of a mint are shown', () => {
  it('is not said by most mints', () => {
    expect(readUiAmount(new Map())).toStrictEqual({})
  })

  it('may be multiplied, and otherwise from some moment on', () => {
    expect(read(25, scaled(1.1, 5e-324, 1_900_000_000n))).toStrictEqual({
      scaledUiAmount: {
        ...{ multiplier: 1.1, newMultiplier: 5e-324, newMultiplierEffectiveTimestamp: 1_900_000_000 }
      }
    })
  })

  it('may bear interest, also a negative one', () => {
    expect(read(10, interest(-5n, -32_768, 1_900_000_000n, 500))).toStrictEqual({
      interestBearing: {
        ...{ initializationTimestamp: -5, preUpdateAverageRate: -32_768 },
        ...{ lastUpdateTimestamp: 1_900_000_000, currentRate: 500 }
      }
    })
  })

  it.each([
    ['no number', 25, scaled(Number.NaN, 1, 0n), 'MALFORMED'],
    ['infinite', 25, scaled(1, Number.POSITIVE_INFINITY, 0n), 'MALFORMED'],
    ['zero', 25, scaled(0, 1, 0n), 'MALFORMED'],
    ['negative', 25, scaled(-1, 1, 0n), 'MALFORMED'],
    ['beyond any time', 25, scaled(1, 1, 2n ** 53n), 'MALFORMED'],
    ['cut', 25, scaled(1, 1, 0n).subarray(0, 55), 'TRUNCATED'],
    ['interest that is cut', 10, interest(0n, 0, 0n, 0).subarray(0, 51), 'TRUNCATED']
  ])('is refused: %s', (_what, type, value, reason) => {
    expect(() => read(type, value)).toThrow(expect.objectContaining({ name: 'AccountRefusal', reason }))
  })
})
