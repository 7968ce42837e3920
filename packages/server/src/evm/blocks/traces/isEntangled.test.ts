import { expect, it } from 'vitest'
import type { Frame } from './Frame.ts'
import { isEntangled } from './isEntangled.ts'

const [a, b, c, d] = ['a', 'b', 'c', 'd'].map(digit => `0x${digit.repeat(40)}` as const) as [
  ...`0x${string}`[]
] as [`0x${string}`, `0x${string}`, `0x${string}`, `0x${string}`]
const step = (
  kind: Frame['kind'],
  depth: number,
  from: `0x${string}`,
  to?: `0x${string}`,
  value = 0n
): Frame => ({ kind, depth, from, value, ...(to === undefined ? { error: 'Reverted' } : { to }) })
const root = step('call', 0, a, b)

it('is not what creates in its own place, also by the code of another, nor what is inside of a failure', () => {
  expect(isEntangled([root, step('create', 1, b, c), step('create', 2, c, d)])).toBe(false)
  expect(isEntangled([root, step('delegate', 1, b, c), step('create', 2, b, d)])).toBe(false)
  expect(isEntangled([root, step('create', 1, b), step('create', 2, d, c)])).toBe(false)
  expect(isEntangled([step('create', 0, a, b), step('create', 1, b, c)])).toBe(false)
  expect(isEntangled([root, step('selfdestruct', 1, b, c), step('create', 1, b, d)])).toBe(false)
})

it('is what creates itself', () => {
  expect(isEntangled([root, step('call', 1, b, c), step('create', 2, c, c, 5n)])).toBe(true)
})

it('is what delegated code does, told of the account whose code it is', () => {
  expect(isEntangled([root, step('delegate', 1, b, c), step('call', 2, b, d)])).toBe(false)
  expect(isEntangled([root, step('delegate', 1, b, c), step('call', 2, c, d)])).toBe(true)
})

it('is what another one is said to have created', () => {
  expect(isEntangled([step('create', 0, a, b), step('call', 1, b, c), step('create', 2, b, d)])).toBe(true)
})
