import { Ajv, type ValidateFunction } from 'ajv'
import type { Schema, ServiceDocument } from './document.ts'

const annotations = new Set(['title', 'description', 'default'])

/**
 * A schema as the validators compile it: annotations dropped, `oneOf` turned into a chain of
 * if/then/else along each alternative's `x-when`.
 *
 * `oneOf` would report the mistakes of every alternative at once; the chain decides first which
 * alternative is meant, so that one mistake gives one message.
 */
export function toValidationSchema(schema: Schema): Schema {
  const plain = mapSubschemas(schema, toValidationSchema)
  for (const key of Object.keys(plain)) {
    if (annotations.has(key) || key.startsWith('x-')) delete (plain as Record<string, unknown>)[key]
  }
  if (schema.oneOf === undefined) return plain
  const { oneOf: _, ...rest } = plain
  return { ...rest, ...chain(schema.oneOf) }
}

function chain(alternatives: Schema[]): Schema {
  const [first, ...others] = alternatives
  if (first === undefined) return {}
  const when = first['x-when']
  if (others.length === 0) return toValidationSchema(first)
  if (when === undefined) throw new Error(`Alternative "${first.title ?? first.$ref}" needs x-when.`)
  // biome-ignore lint/suspicious/noThenProperty: `then` is the keyword of JSON Schema.
  return { if: when, then: toValidationSchema(first), else: chain(others) }
}

/** Copies a schema with `change` applied to each direct subschema. */
export function mapSubschemas(schema: Schema, change: (subschema: Schema) => Schema): Schema {
  const result: Schema = { ...schema }
  const changeAny = <T extends Schema | boolean>(value: T) =>
    typeof value === 'boolean' ? value : change(value)
  if (schema.properties) {
    result.properties = Object.fromEntries(
      Object.entries(schema.properties).map(([key, value]) => [key, changeAny(value)])
    )
  }
  if (schema.items) {
    result.items = Array.isArray(schema.items) ? schema.items.map(change) : change(schema.items)
  }
  if (typeof schema.additionalProperties === 'object') {
    result.additionalProperties = change(schema.additionalProperties)
  }
  for (const key of ['oneOf', 'allOf'] as const) {
    const list = schema[key]
    if (list) result[key] = list.map(change)
  }
  for (const key of ['if', 'then', 'else'] as const) {
    const value = schema[key]
    if (value) result[key] = change(value)
  }
  return result
}

/**
 * An ajv instance that knows every schema of the document, under its reference (`#/components/...`).
 *
 * @param form - `exact`: as written, with `oneOf`; `chained`: as the emitted validators check.
 */
export function createAjv(document: ServiceDocument, form: 'exact' | 'chained'): Ajv {
  const change = form === 'chained' ? toValidationSchema : (schema: Schema) => schema
  const ajv = new Ajv({
    strict: false,
    inlineRefs: false,
    // The messages are ours: packages/protocol/src/mistake.ts.
    messages: false,
    code: { source: true, esm: true, lines: true }
  })
  for (const [name, schema] of Object.entries(document.components.schemas))
    ajv.addSchema({ ...withIds(change(schema)), $id: name })
  return ajv
}

/** The validator of one schema of the document. */
export function compile(ajv: Ajv, ref: string): ValidateFunction {
  const validate = ajv.getSchema(schemaId(ref))
  if (validate === undefined) throw new Error(`No schema at ${ref}.`)
  return validate
}

/** Returns the id of a schema of the document, its name. With an id of its own each schema is compiled once. */
export function schemaId(ref: string): string {
  return ref.slice(ref.lastIndexOf('/') + 1)
}

function withIds(schema: Schema): Schema {
  const copy = mapSubschemas(schema, withIds)
  return copy.$ref === undefined ? copy : { ...copy, $ref: schemaId(copy.$ref) }
}
