import fc from 'fast-check'
import { expect, test } from 'vitest'
import { CandidateSet } from './CandidateSet.ts'

test('tells new bytes from those that were added, whatever their length, as a set of texts does', () => {
  const few = fc.uint8Array({ maxLength: 75 }).map(bytes => bytes.map(byte => byte % 3))
  fc.assert(
    fc.property(fc.array(few, { maxLength: 200 }), rows => {
      const set = new CandidateSet()
      const texts = new Set<string>()
      for (const row of rows) {
        const before = texts.size
        texts.add(row.join())
        const around = Uint8Array.from([7, ...row, 9])
        expect(set.add(around, 1, 1 + row.length)).toBe(texts.size > before)
      }
      expect(set.size).toBe(texts.size)
    })
  )
})

test('keeps 100,000 apart that differ in a few bits', () => {
  const set = new CandidateSet()
  const bytes = new Uint8Array(42)
  const view = new DataView(bytes.buffer)
  for (let pass = 0; pass < 2; pass++) {
    for (let n = 0; n < 100_000; n++) {
      view.setUint32(n % 2 === 0 ? 16 : 36, n >> 1)
      view.setUint32(n % 2 === 0 ? 36 : 16, 0)
      // Both are the same bytes where n is 0 or 1.
      expect(set.add(bytes, 0, bytes.length)).toBe(pass === 0 && n !== 1)
    }
  }
  expect(set.size).toBe(99_999)
})
