import { openRpcDocument } from '@chain-data/protocol/document'
import { expect, it } from 'vitest'
import { vectorFiles } from '../generated/vectors.gen.ts'
import { allChecks } from './allChecks.ts'

function resolve(pointer: string): unknown {
  return pointer
    .slice(2)
    .split('/')
    .reduce<unknown>(
      (holder, name) => (holder as Record<string, unknown> | undefined)?.[name],
      openRpcDocument
    )
}

it('has names that are unique and fit what reports group by', () => {
  const names = allChecks.map(({ name }) => name)
  expect(new Set(names).size).toBe(names.length)
  for (const name of names) expect(name).toMatch(/^(vectors\/[\w.]+|[a-z]+)\/[a-z0-9-]+$/)
})

it('names for each check a part of the document that is there', () => {
  const lost = allChecks.filter(({ where }) => !where.startsWith('#/') || resolve(where) === undefined)
  expect(lost.map(({ name, where }) => `${name}: ${where}`)).toEqual([])
})

it('says what each check shows as a sentence', () => {
  for (const { shows } of allChecks) expect(shows).toMatch(/^\S.*\.$/)
})

it('has a check for every vector', () => {
  const files = Object.keys(vectorFiles)
  expect(files.length).toBeGreaterThan(180)
  expect(allChecks.map(({ name }) => name)).toEqual(
    expect.arrayContaining(files.map(file => `vectors/${file}`))
  )
})
