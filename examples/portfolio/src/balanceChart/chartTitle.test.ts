import { describe, expect, it } from 'vitest'
import { chartTitle } from './chartTitle.ts'

const ether = { symbol: 'ETH', decimals: 18 }
const point = (moment: string, balanceWei: bigint) => ({
  ...{ blockNumber: 1, balanceWei, changeWei: 0n },
  timestampSeconds: new Date(moment).getTime() / 1000
})

describe('the title of the chart', () => {
  it('states what came of it, since when', () => {
    const first = point('2026-05-03T10:00:00', 10n ** 18n)
    const told = (balanceWei: bigint, now: string, isWhole = false) =>
      chartTitle(
        { points: [first, point(now, balanceWei)], openingWei: 0n, isWhole },
        ether,
        new Date(now).getTime() / 1000
      )
    expect(told(142n * 10n ** 16n, '2026-06-01T10:00:00')).toBe('Up 0.42 ETH since May 3')
    expect(told(10n ** 17n, '2027-06-01T10:00:00')).toBe('Down 0.9 ETH since May 3, 2026')
    expect(told(10n ** 18n, '2026-05-03T22:00:00')).toBe('Unchanged since 10:00')
    expect(told(10n ** 18n + 5n, '2026-05-04T22:00:00')).toBe('Up 0.000000000000000005 ETH since May 3')
    expect(told(10n ** 18n, '2026-05-04T22:00:00', true)).toBe('Up 1 ETH since May 3')
  })
})
