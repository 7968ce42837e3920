import { expect, test } from 'vitest'
import { findLongFunctions, longFunctionsIn } from './findLongFunctions.ts'
import { maxFunctionLines } from './limits.ts'

test('no function of a package or an example is too long to hold in the head', () => {
  expect(findLongFunctions(maxFunctionLines)).toEqual([])
})

test.each([
  ['a function', 'function long() {', '}'],
  ['a method', 'class Some {\n  long() {', '}}'],
  ['a function in another one', 'function short() { function long() {', '}; return long }']
])('%s of one line too many is found', (_, begin, end) => {
  const withLines = (count: number) => [begin, ...Array(count - 2).fill('  step()'), end].join('\n')
  expect(longFunctionsIn('some.ts', withLines(10), 10)).not.toContain('long')
  expect(longFunctionsIn('some.ts', withLines(11), 10)).toContain('long')
})

test('an arrow function without a name is found, one of the greatest length is not', () => {
  const text = (count: number) => ['export default () => [', ...Array(count - 2).fill('  1,'), ']'].join('\n')
  expect(longFunctionsIn('some.ts', text(10), 10)).toEqual([])
  expect(longFunctionsIn('some.ts', text(11), 10)).toEqual(['anonymous'])
})
