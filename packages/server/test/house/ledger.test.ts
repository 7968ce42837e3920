import { expect, test } from 'vitest'
import { compare, readLedger, update } from './ledger.ts'
import { measureSizes } from './measureSizes.ts'

const entries = { 'page, files': { limit: 60, aim: 45 } }

// The walks are held to it by `npm run house`, which needs the machine for itself.
test('the server is no larger than the ledger says', () => {
  expect(compare(measureSizes(), readLedger().sizes)).toEqual([])
})

test('a figure above the ledger is a problem, one at its limit is none', () => {
  expect(compare({ 'page, files': 60 }, entries)).toEqual([])
  expect(compare({ 'page, files': 61 }, entries)).toEqual(['"page, files" is 61; the ledger allows 60'])
})

test('a figure without an entry is a problem, and so is an entry without a figure', () => {
  expect(compare({ 'block, files': 1 }, entries)).toEqual([
    '"block, files" is not in the ledger',
    '"page, files" is in the ledger, but not measured any more'
  ])
})

test('a smaller figure lowers the limit, never below the aim', () => {
  expect(update({ 'page, files': 50 }, entries, '')).toEqual({ 'page, files': { limit: 50, aim: 45 } })
  expect(update({ 'page, files': 40 }, entries, '')).toEqual({ 'page, files': { limit: 45, aim: 45 } })
})

test('a larger figure needs a reason, which stays until the figure is back', () => {
  expect(() => update({ 'page, files': 62 }, entries, '')).toThrow('give the reason')
  const raised = update({ 'page, files': 62 }, entries, 'blob fields')
  expect(raised).toEqual({ 'page, files': { limit: 62, aim: 45, raised: { from: 60, why: 'blob fields' } } })
  const lower = update({ 'page, files': 61 }, raised, '')
  expect(lower['page, files']).toMatchObject({ limit: 61, raised: { from: 60, why: 'blob fields' } })
  expect(update({ 'page, files': 60 }, lower, '')).toEqual(entries)
})

test('some lines more are no growth', () => {
  const lines = update({ 'all, lines': 149 }, {}, '')
  expect(lines).toEqual({ 'all, lines': { limit: 200 } })
  expect(update({ 'all, lines': 150 }, lines, '')).toEqual(lines)
})
