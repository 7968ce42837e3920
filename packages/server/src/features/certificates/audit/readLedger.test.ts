import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Ledger } from './readLedger.ts'

test('tells the sum at every height that it does not keep together with others, and never a wrong one', () =>
  fc.assert(
    fc.property(
      fc.array(fc.record({ height: fc.nat({ max: 30_000 }), change: fc.bigInt({ min: -9n, max: 9n }) }), {
        minLength: 1,
        maxLength: 50
      }),
      fc.constantFrom(0, 1, 3),
      (some, step) => {
        // With steps, more cells than are kept one by one.
        const many =
          step === 0 ? [] : Array.from({ length: 9_000 }, (_, i) => ({ height: i * step + 1, change: 1n }))
        const changes = [...some, ...many]
        const ledger = new Ledger({ low: 10, high: 25_000 })
        for (const { height, change } of changes) ledger.add(height, change)
        const counted = changes.filter(({ height }) => height > 10 && height <= 25_000)
        for (const height of [0, 10, 11, 5_000, 12_345, 24_999, 25_000, 26_000]) {
          const sum = counted.reduce((total, one) => total + (one.height <= height ? one.change : 0n), 0n)
          expect([sum, undefined]).toContain(ledger.at(height))
          if (step === 0) expect(ledger.at(height)).toBe(sum)
        }
        expect(ledger.at(25_000)).toBeDefined()
        for (const edge of ledger.edgesAround(12_345)) expect(ledger.at(edge)).toBeDefined()
      }
    ),
    { numRuns: 30 }
  ))
