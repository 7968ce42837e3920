import { nearestName } from '@chain-data/protocol'
import { z } from 'zod'
import { scrubText } from '../../platform/scrubText.ts'
import type { Sources } from './environment.ts'
import { configSchema } from './schema.ts'

/** The schema without its default. */
function unwrap(schema: z.core.$ZodType): z.core.$ZodType {
  return schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault
    ? unwrap(schema.def.innerType)
    : schema
}

/** Returns the object among several forms of a value, or the schema without its default. */
function objectIn(schema: z.core.$ZodType): z.core.$ZodType {
  const inner = unwrap(schema)
  if (!(inner instanceof z.ZodUnion)) return inner
  return inner.options.find(option => option instanceof z.ZodObject) ?? inner
}

/** The schema of a key; of the nearest parent that has one where the path leads into a choice of forms. */
function schemaAt(path: readonly PropertyKey[]): z.ZodType | undefined {
  let current: z.core.$ZodType = configSchema
  for (const part of path) {
    const parent = unwrap(current)
    if (parent instanceof z.ZodObject) current = parent.shape[String(part)] ?? parent
    else if (parent instanceof z.ZodArray) current = parent.element
    else break
  }
  return current instanceof z.ZodType ? current : undefined
}

/** Every key below `schema` with what it means and what it is when left out. */
export function listKeys(
  schema: z.core.$ZodType,
  path: string
): { path: string; description: string; fallback: unknown }[] {
  const inner = unwrap(schema)
  if (inner instanceof z.ZodObject) {
    return Object.entries<z.core.$ZodType>(inner.shape).flatMap(([name, child]) =>
      listKeys(child, path === '' ? name : `${path}.${name}`)
    )
  }
  const description = (schema instanceof z.ZodType && schema.meta()?.description) || ''
  const hasDefault = schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault
  const fallback = hasDefault ? schema.def.defaultValue : undefined
  const self = { path, description, fallback }
  if (inner instanceof z.ZodArray && unwrap(inner.element) instanceof z.ZodObject) {
    return [self, ...listKeys(inner.element, `${path}[]`)]
  }
  return [self]
}

/** Words a wrong key in one line: the key, its value (never a secret one) and the expected form. */
export function describeIssue(issue: z.core.$ZodIssue, input: unknown, sources: Sources): string[] {
  if (issue.code === 'unrecognized_keys') {
    const found = schemaAt(issue.path)
    const parent = found && objectIn(found)
    const known = parent instanceof z.ZodObject ? Object.keys(parent.shape) : []
    return issue.keys.map(key => {
      const meant = nearestName(key, known)
      const hint = meant === undefined ? '' : ` (did you mean "${meant}"?)`
      const expected = known.join(', ') || 'no such key'
      return `${pathText([...issue.path, cut(key)])} is not a key of the configuration${hint}; expected one of: ${expected}`
    })
  }
  const key = pathText(issue.path)
  const source = sources.get(key) ?? sources.get(key.replace(/\[\d+\]$/, ''))
  const name = (key === '' ? 'The configuration' : key) + (source === undefined ? '' : ` (from ${source})`)
  const expected =
    issue.path.length === 0
      ? 'an object with projects and chains'
      : (schemaAt(issue.path)?.meta()?.description ?? 'another kind of value')
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

const secretKeys = new Set<PropertyKey>(['serverKey', 'key', 'headers'])

/** Below these, texts are URLs, whose path, query and user information may hold a key. */
const urlKeys = new Set<PropertyKey>(['store', 'storeReplicas', 'chains', 'metadata'])

function showValue(value: unknown, path: readonly PropertyKey[]): string {
  const holdsSecret = path.length === 0 || path[0] === 'projects' || path.some(part => secretKeys.has(part))
  // Both halves of the credentials are easily put there.
  if (path.at(-1) === 'projectId' && typeof value === 'string') {
    return cut(JSON.stringify(value.replace(/:.+/s, ':…')))
  }
  const isPublic = path.at(-1) === 'projectId' || path.includes('origins')
  if ((holdsSecret && !isPublic) || typeof value === 'function') {
    return `${kindOf(value)} that is not shown`
  }
  const scrub = urlKeys.has(path[0] ?? '') ? scrubUrl : (text: string) => scrubText(text, 1_000)
  const shown = JSON.stringify(value, (name, part: unknown) => {
    if (secretKeys.has(name)) return '…'
    return typeof part === 'string' ? scrub(part) : part
  })
  return cut(shown ?? String(value))
}

function kindOf(value: unknown): string {
  if (value === null) return 'a null'
  if (Array.isArray(value)) return 'a list'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}

const hostPattern = /^(?:[a-z][a-z0-9+.-]*:\/\/)?[\w.-]*(?::\d{1,5})?(?=[/?#]|$)/i
const schemePattern = /^[a-z][a-z0-9+.-]*:/i

/** As much of a URL, or of what was meant as one, as surely holds no key: scheme and host, or the scheme alone. */
function scrubUrl(text: string): string {
  // An unescaped "/" or "#" in a password makes what stands before it look like a host and its port.
  if (/^postgres(ql)?:/i.test(text)) return 'postgres:…'
  const scrubbed = scrubText(text, 1_000)
  // A path of this machine, given as a store without its kind: it is no URL, and the mistake is to be seen.
  if (/^\.{1,2}\//.test(scrubbed)) return scrubbed
  const [start = ''] = hostPattern.exec(scrubbed) ?? schemePattern.exec(scrubbed) ?? []
  return start.length === scrubbed.length ? start : `${start}…`
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
