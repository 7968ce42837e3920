import { createElement } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import { expect, test } from 'vitest'
import { HoldingsSections } from './HoldingsSections.tsx'
import type { HoldingsView } from './HoldingsView.ts'

function shown(incomplete: HoldingsView['incomplete']): string {
  const data = { native: 1n, tokens: [], nfts: [], asOf: { block: 7 }, incomplete }
  const holdings = { data, error: null, readAtSeconds: 0, retry: () => {} }
  return renderToStaticMarkup(createElement(HoldingsSections, { holdings, chainId: 31337 }))
}

test('an account is empty only where everything could be read', () => {
  expect(shown([])).toContain('No tokens (as of block 7)')
  const html = shown([{ address: '0x1', reason: 'DECIMALS_UNREADABLE' }])
  expect(html).toContain('No tokens that could be read (as of block 7)')
  expect(html).not.toContain('No NFTs (')
})
