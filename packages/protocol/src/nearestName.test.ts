import { expect, it } from 'vitest'
import { nearestName } from './nearestName.ts'

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
  expect(nearestName(typed, names)).toBe(meant)
})
