import fc from 'fast-check'
import { expect, test } from 'vitest'
import { computeValue } from './computeValue.ts'

const ether = 10n ** 18n

test.each([
  [ether, 18, '3012.55', 301_255n],
  [ether / 3n, 18, '3', 100n],
  [5n, 3, '1', 1n],
  [4n, 3, '1', 0n],
  [7n, 0, '0', 0n],
  [2n ** 256n - 1n, 0, '0.01', 2n ** 256n - 1n],
  [1n, 255, '1', 0n]
])('%s with %s decimals at %s is worth %s hundredths', (amount, decimals, price, value) => {
  expect(computeValue(amount, decimals, price)).toBe(value)
})

test.each([undefined, '', 'NaN', '-1', '1e9999', '.5', '9'.repeat(10_000)])(
  'at a price of %s the value is unknown, which is not 0',
  price => expect(computeValue(ether, 18, price)).toBeUndefined()
)

test('it is off by half a hundredth at most', () => {
  const price = fc.tuple(fc.bigInt({ min: 0n, max: 10n ** 30n - 1n }), fc.stringMatching(/^\d{1,36}$/))
  fc.assert(
    fc.property(
      fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }),
      fc.nat(80),
      price,
      (amount, decimals, [whole, fraction]) => {
        const scale = 10n ** BigInt(decimals + fraction.length)
        const exact = amount * (whole * 10n ** BigInt(fraction.length) + BigInt(fraction)) * 100n
        const off = computeValue(amount, decimals, `${whole}.${fraction}`)! * scale - exact
        expect(2n * (off < 0n ? -off : off) <= scale).toBe(true)
      }
    )
  )
})
