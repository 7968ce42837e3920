import fc from 'fast-check'
import { expect, it } from 'vitest'
import { WeiSum } from './WeiSum.ts'

const factor = fc.oneof(
  fc.maxSafeNat(),
  fc.nat({ max: 53 }).chain(bits => fc.constantFrom(2 ** bits - 1, Math.min(2 ** bits, 2 ** 53 - 1)))
)

it('a sum of products is exact, whatever is in it', () => {
  const sum = new WeiSum()
  fc.assert(
    fc.property(
      fc.array(fc.tuple(factor, factor), { maxLength: 20 }),
      fc.nat({ max: 300 }),
      fc.bigInt({ min: 0n, max: 2n ** 300n }),
      (products, times, more) => {
        sum.reset()
        let expected = more
        sum.add(more)
        for (let round = 0; round <= times; round++) {
          for (const [gas, price] of products) {
            sum.addProduct(gas, price)
            expected += BigInt(gas) * BigInt(price)
          }
        }
        expect(sum.total).toBe(expected)
        expect(sum.total).toBe(expected)
      }
    ),
    { numRuns: 300 }
  )
})
