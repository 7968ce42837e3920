import { expect, test } from 'vitest'
import { displayText } from './displayText.ts'

test.each([
  ['Plain Name', 'Plain Name'],
  ['  spaces around \t\n', 'spaces around'],
  ['Ünïcödé 名前 🦍', 'Ünïcödé 名前 🦍'],
  ['U\u200bS\u200cD\u200d\u2060C\ufeff', 'USDC'],
  ['\u202egnp.exe\u202c\u2066\u2069\u061c', 'gnp.exe'],
  ['a\u0000b\u0007c\u001b[31md\u007f\u0085', 'abc[31md'],
  ['line\u2028para\u2029', 'linepara'],
  ['\ud800lone\udfff', 'lone'],
  ['\u3164\u115f\uffa0\u00ad\u{e0041}', ''],
  ['\ue000\u{f0000}', ''],
  ['', '']
])('%j is shown as %j', (text, shown) => {
  expect(displayText(text)).toBe(shown)
})

test('is cut at 255 code points, never inside one', () => {
  expect(displayText('🦍'.repeat(300))).toBe('🦍'.repeat(255))
  expect(displayText('x'.repeat(255))).toBe('x'.repeat(255))
  expect(displayText(`${'🦍'.repeat(1_000_000)}`)).toBe('🦍'.repeat(255))
})
