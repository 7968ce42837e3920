import { z } from 'zod'
import { configSchema } from './schema.ts'

/** The schema without its default. */
export function unwrap(schema: z.core.$ZodType): z.core.$ZodType {
  return schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault
    ? unwrap(schema.def.innerType)
    : schema
}

/** The schema of a key; of the nearest parent that has one where the path leads into a choice of forms. */
export function schemaAt(path: readonly PropertyKey[]): z.ZodType | undefined {
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
  const fallback = schema instanceof z.ZodDefault ? schema.def.defaultValue : undefined
  const self = { path, description, fallback }
  if (inner instanceof z.ZodArray && unwrap(inner.element) instanceof z.ZodObject) {
    return [self, ...listKeys(inner.element, `${path}[]`)]
  }
  return [self]
}
