import fc from 'fast-check'
import { expect, test } from 'vitest'
import { cutText } from './cutText.ts'
import { initials } from './initials.ts'

test.each([
  ['  a \n\t b ', 'a b'],
  ['\u202eCDSU\u202c', 'CDSU'],
  ['U\u200bS\u2060DC\ufeff', 'USDC'],
  ['a\u0000\u001b[31mb', 'a[31mb'],
  [`z${'\u0301'.repeat(50)}`, `z${'\u0301'.repeat(3)}`],
  ['🦍'.repeat(30), `${'🦍'.repeat(19)}…`]
])('%j is shown as %j', (text, shown) => {
  expect(cutText(text, 20)).toBe(shown)
})

test('no text is longer than asked for, or holds what turns the direction of writing', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'binary', maxLength: 500 }),
      fc.integer({ min: 1, max: 60 }),
      (text, limit) => {
        const shown = cutText(text, limit)
        expect([...shown].length).toBeLessThanOrEqual(limit)
        expect(shown).not.toMatch(/[\p{Cc}\p{Cf}]/u)
      }
    )
  )
})

test.each([
  ['Devnet Gold', 'DG'],
  ['<img src=x>', 'IS'],
  ['\u202e', '?'],
  ['', '?'],
  ['ß', 'SS']
])('the initials of %j are %s', (name, letters) => {
  expect(initials(name)).toBe(letters)
})
