import { expect, it } from 'vitest'
import { findSimilar } from './findSimilar.ts'

const names = ['listen', 'store', 'storeReplicas', 'projects', 'projectsFile', 'rateLimit', 'login']

it.each([
  ['stoer', 'store'],
  ['Store', 'store'],
  ['project', 'projects'],
  ['projectFile', 'projectsFile'],
  ['ratelimit', 'rateLimit'],
  ['listne', 'listen'],
  ['lst', undefined],
  ['nodes', undefined],
  ['', undefined],
  ['x'.repeat(100_000), undefined]
])('%s was meant as %s', (typed, meant) => {
  expect(findSimilar(typed, names)).toBe(meant)
})
