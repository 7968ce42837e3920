import { expect, test } from 'vitest'
import { findExcesses, limits } from './limits.ts'
import { measureSizes } from './measureSizes.ts'

// The walks need the machine for themselves: `npm run house` measures them.
test('no room of the server is larger than its limit', () => {
  expect(findExcesses(measureSizes(), limits.sizes)).toEqual([])
})

test('a figure above its limit is reported, one at its limit is not', () => {
  expect(findExcesses({ 'page, files': 60 }, { 'page, files': 60 })).toEqual([])
  expect(findExcesses({ 'page, files': 61 }, { 'page, files': 60 })).toEqual([
    '"page, files" is 61, limit 60'
  ])
})

test('a figure without a limit is reported, and so is a limit without a figure', () => {
  expect(findExcesses({ 'block, files': 1, 'block, functions': 9 }, { 'page, files': 60 })).toEqual([
    '"block, files" has no limit',
    '"page, files" has a limit but is not measured'
  ])
})
