import { createElement } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import { expect, test } from 'vitest'
import { ago, When } from './When.tsx'

const hour = 3600
const now = 1_800_000_000

test.each([
  [20, 'just now'],
  [-20, 'just now'],
  [45, '45 seconds ago'],
  [59 * 60 + 59, '59 minutes ago'],
  // Two midnights may lie between: "yesterday" would be wrong.
  [47 * hour, '1 day ago'],
  [59 * 24 * hour, '1 month ago'],
  [-2 * hour, 'in 2 hours']
])('%i seconds before now is %s', (seconds, words) => {
  expect(ago(now - seconds, now)).toBe(words)
})

test('a time that no calendar has is called unknown', () => {
  expect(renderToStaticMarkup(createElement(When, { seconds: 1e18 }))).toContain('at an unknown time')
})
