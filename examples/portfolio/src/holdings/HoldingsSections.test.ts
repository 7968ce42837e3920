import { createElement } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import { expect, test } from 'vitest'
import { HoldingsSections } from './HoldingsSections.tsx'
import type { HoldingsView } from './HoldingsView.ts'

function shown(incomplete: HoldingsView['incomplete'], more: Partial<HoldingsView> = {}): string {
  const data = { native: 1n, tokens: [], nfts: [], asOf: { block: 7 }, incomplete, ...more }
  const holdings = { data, error: null, readAtSeconds: 0, retry: () => {} }
  return renderToStaticMarkup(createElement(HoldingsSections, { holdings, chainId: 31337 }))
}

test('an account is empty only where everything could be read', () => {
  expect(shown([])).toContain('No tokens (as of block 7)')
  const html = shown([{ address: '0x1', reason: 'DECIMALS_UNREADABLE' }])
  expect(html).toContain('No tokens that could be read (as of block 7)')
  expect(html).not.toContain('No NFTs (')
})

test('a missing price hides no holding', () => {
  expect(shown([{ address: '0x1', reason: 'PRICES_UNAVAILABLE' }])).toContain('No tokens (as of block 7)')
})

test('values have a column where one is known, and a token without a price has none', () => {
  const token = { name: 'Gold', symbol: 'GLD', decimals: 0, amount: 5n, token: '0x1', image: '' }
  const tokens = [
    { ...token, key: '1', value: 123_456n },
    { ...token, key: '2' }
  ]
  const html = shown([], { tokens, currency: 'EUR' })
  expect(html).toContain('>Value</th>')
  expect(html.replace(/<[^>]*>/g, '')).toMatch(/≈ 1.?234.56 EUR/)
  expect(html.match(/≈/g)).toHaveLength(1)
  expect(shown([], { tokens: [{ ...token, key: '2' }], currency: 'EUR' })).not.toContain('Value')
})
