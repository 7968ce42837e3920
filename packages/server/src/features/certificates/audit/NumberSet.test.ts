import fc from 'fast-check'
import { expect, test } from 'vitest'
import { NumberSet } from './NumberSet.ts'

const numbers = fc.array(fc.bigInt({ min: 0n, max: 30n }), { maxLength: 40 })

test('holds what a set holds, and knows what is not in it, in whatever order numbers come', () =>
  fc.assert(
    fc.property(
      numbers,
      fc.bigInt({ min: 0n, max: 30n }),
      fc.bigInt({ min: 0n, max: 30n }),
      (values, a, b) => {
        const [first, end] = a < b ? [a, b] : [b, a]
        const [set, known] = [new NumberSet(), new Set<bigint>()]
        for (const value of values) {
          expect(set.add(value)).toBe(!known.has(value))
          known.add(value)
        }
        const asked = Array.from({ length: Number(end - first) }, (_, i) => first + BigInt(i))
        expect(set.size).toBe(known.size)
        expect(set.first).toBe([...known].sort((x, y) => Number(x - y))[0])
        expect(set.countIn(first, end)).toBe(BigInt(asked.filter(value => known.has(value)).length))
        const gaps = set.gapsIn(first, end)
        const missing = gaps.flatMap(gap =>
          Array.from({ length: Number(gap.last - gap.first) + 1 }, (_, i) => gap.first + BigInt(i))
        )
        expect(missing).toEqual(asked.filter(value => !known.has(value)))
        expect(asked.every(value => set.has(value) === known.has(value))).toBe(true)
        expect(gaps.every((gap, i) => i === 0 || gap.first > (gaps[i - 1]?.last ?? -1n) + 1n)).toBe(true)
      }
    )
  ))
