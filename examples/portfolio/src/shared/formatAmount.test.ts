import { formatUnits } from 'ethers'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { exactAmount, shownAmount, shownValue } from './formatAmount.ts'

const ether = 10n ** 18n

/** The signs of the locale that this runs in, in place of the English ones. */
function local(english: string): string {
  const signs = new Intl.NumberFormat().formatToParts(1_000_000.5)
  const sign = (type: string) => signs.find(part => part.type === type)?.value ?? ''
  return english.replace(/[,.]/g, each => sign(each === ',' ? 'group' : 'decimal'))
}

test('the exact form has every digit, as ethers writes it', () => {
  fc.assert(
    fc.property(
      fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }),
      fc.integer({ min: 0, max: 255 }),
      (value, decimals) => {
        const expected = formatUnits(value, Math.min(decimals, 80)).replace(/\.0$/, '')
        expect(exactAmount(value, Math.min(decimals, 80))).toBe(expected)
      }
    )
  )
})

test.each([
  [0n, 18, '0'],
  [ether, 18, '1'],
  [1_234_567n * ether + ether / 2n, 18, '1,234,567.5'],
  [-ether / 4n, 18, '\u22120.25'],
  [1n, 18, '<\u202f0.000001'],
  [-1n, 18, '\u2212<\u202f0.000001'],
  [1_999_999_999_999_999_999n, 18, '1.999999'],
  [42n, 0, '42'],
  [2n ** 64n - 1n, 9, '18,446,744,073.709551'],
  [5n, 255, '<\u202f0.000001']
])('%s with %i decimals is shown as %s', (value, decimals, shown) => {
  expect(shownAmount(value, decimals)).toBe(local(shown))
})

test('the exact form of less than nothing begins with an ordinary minus', () => {
  expect(exactAmount(-ether / 4n, 18)).toBe('-0.25')
})

test.each([
  [0n, '0.00'],
  [5n, '0.05'],
  [123_456_789n, '1,234,567.89']
])('a value of %s hundredths is shown as %s', (value, shown) => {
  expect(shownValue(value)).toBe(local(shown))
})
