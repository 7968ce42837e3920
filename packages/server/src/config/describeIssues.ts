import { z } from 'zod'
import { scrubText } from '../platform/scrubText.ts'
import type { Sources } from './environment.ts'
import { schemaAt, unwrap } from './schemaDocs.ts'

/** One line for each thing that is wrong: its key, its value (never a secret one) and what was expected. */
export function describeIssue(issue: z.core.$ZodIssue, input: unknown, sources: Sources): string[] {
  if (issue.code === 'unrecognized_keys') {
    const found = schemaAt(issue.path)
    const parent = found && unwrap(found)
    const known = parent instanceof z.ZodObject ? Object.keys(parent.shape).join(', ') : 'no such key'
    return issue.keys.map(
      key =>
        `${pathText([...issue.path, cut(key)])} is not a key of the configuration; expected one of: ${known}`
    )
  }
  const key = pathText(issue.path)
  const source = sources.get(key) ?? sources.get(key.replace(/\[\d+\]$/, ''))
  const name = (key === '' ? 'The configuration' : key) + (source === undefined ? '' : ` (from ${source})`)
  const expected = schemaAt(issue.path)?.meta()?.description ?? 'another kind of value'
  const value = valueAt(input, issue.path)
  const state = value === undefined ? 'is missing' : `is ${showValue(value, issue.path)}`
  return [`${name} ${state}; expected ${expected}`]
}

function pathText(path: readonly PropertyKey[]): string {
  return path.reduce<string>(
    (text, part) =>
      typeof part === 'number' ? `${text}[${part}]` : text ? `${text}.${String(part)}` : String(part),
    ''
  )
}

const secretKeys = new Set<PropertyKey>(['serverKey', 'key'])

function showValue(value: unknown, path: readonly PropertyKey[]): string {
  const holdsSecret = path.some(part => secretKeys.has(part)) || path[0] === 'projects'
  const isPublic = path.at(-1) === 'projectId' || path.includes('origins')
  if (holdsSecret && !isPublic) return `a ${Array.isArray(value) ? 'list' : typeof value} that is not shown`
  return cut(scrubText(JSON.stringify(value) ?? String(value), 1_000))
}

function cut(text: string): string {
  return text.length <= 100 ? text : `${text.slice(0, 100)}…`
}

function valueAt(input: unknown, path: readonly PropertyKey[]): unknown {
  let value = input
  for (const part of path) {
    if (typeof value !== 'object' || value === null) return undefined
    value = Object.hasOwn(value, part) ? Reflect.get(value, part) : undefined
  }
  return value
}
