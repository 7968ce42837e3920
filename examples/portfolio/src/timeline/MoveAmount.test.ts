import { createElement } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import { expect, test } from 'vitest'
import { Amount } from '../shared/Amount.tsx'
import type { Move } from './describeRecord.ts'
import { MoveAmount } from './MoveAmount.tsx'

const currency = { symbol: 'ETH', decimals: 18 }
const contract = `0x${'c'.repeat(40)}`

/** The text of a move, with the titles left out. */
function shown(move: Move, symbol?: string): string {
  const tokens = new Map(symbol === undefined ? [] : [[contract, { symbol }]])
  return renderToStaticMarkup(createElement(MoveAmount, { move, tokens, currency })).replace(/<[^>]*>/g, '')
}

test.each([
  ['in', '+1 × ART #7'],
  ['out', '−1 × ART #7'],
  ['self', '1 × ART #7']
] as const)('an ERC-721 token that goes %s is %s', (direction, text) => {
  const token = { address: contract, standard: 'ERC-721', id: '7' } as const
  expect(shown({ direction, amount: 1n, token }, 'ART')).toBe(text)
})

test('very little is told in a unit that keeps its digits, with the sign of its direction', () => {
  expect(shown({ direction: 'out', amount: 12_345n })).toBe('−12,345 wei')
  expect(shown({ direction: 'in', amount: 5n * 10n ** 9n })).toBe('+5 gwei')
  expect(shown({ direction: 'self', amount: 10n ** 18n })).toBe('1 ETH')
})

test('names of tokens stand by themselves, without hidden characters, in titles too', () => {
  const html = (standard: 'ERC-20' | 'ERC-721', more: object) => {
    const token = { address: contract, standard, ...more }
    const tokens = new Map([[contract, { symbol: '\u202eDSU', ...more }]])
    const move = { direction: 'in', amount: 3n, token } as const
    return renderToStaticMarkup(createElement(MoveAmount, { move, tokens, currency }))
  }
  for (const text of [html('ERC-20', {}), html('ERC-20', { decimals: 2 }), html('ERC-721', { id: '7' })]) {
    expect(text).toContain('DSU</bdi>')
    expect(text).not.toContain('\u202e')
  }
  const amount = renderToStaticMarkup(createElement(Amount, { value: 1n, decimals: 0, unit: '\u202eDSU' }))
  expect(amount).not.toContain('\u202e')
})
