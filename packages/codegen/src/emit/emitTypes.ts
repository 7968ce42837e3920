import { compile as compileType, type JSONSchema } from 'json-schema-to-typescript'
import { mapSubschemas } from '../compileSchemas.ts'
import {
  type ContentDescriptor,
  isReference,
  type Method,
  nameOf,
  resolve,
  type Schema,
  type ServiceDocument
} from '../document.ts'
import { docstring } from './typeScript.ts'

/**
 * `types.gen.ts`: one exported type per schema component.
 *
 * Types that hold a 64-bit member are generic over its representation, `number` unless told
 * otherwise, so that the server can write `bigint` where the client reads `number`.
 */
export async function emitTypes(document: ServiceDocument): Promise<string> {
  const wide = wideSchemas(document)
  const inputs = inputSchemas(document)
  const tuples = new Map(document.methods.map(method => [nameOf(method['x-params-schema']), method]))
  const parts: string[] = []
  for (const [name, schema] of Object.entries(document.components.schemas)) {
    const method = tuples.get(name)
    if (method) parts.push(tupleType(document, name, schema, method))
    else parts.push(await plainType(name, schema, wide, inputs.has(name)))
  }
  return `${parts.join('\n\n')}\n`
}

async function plainType(name: string, schema: Schema, wide: Set<string>, input: boolean): Promise<string> {
  const convertible = { ...convert(schema, wide), description: schema.description ?? '' }
  if (schema.type === 'object' && schema.properties === undefined) {
    convertible.tsType = '{ [key: string]: unknown }'
  }
  if (input && schema.type === 'array' && isReference(schema.items)) {
    convertible.tsType = `readonly ${typeReference(schema.items, wide)}[]`
  }
  const text = await compileType(convertible as JSONSchema, name, {
    bannerComment: '',
    additionalProperties: false,
    unknownAny: true,
    style: { semi: false, singleQuote: true, printWidth: 110 }
  })
  const generic = wide.has(name) ? '<Int64 extends number | bigint | string = number>' : ''
  return text
    .replace(`export interface ${name} {`, `export interface ${name}${generic} {`)
    .replace(`export type ${name} =`, `export type ${name}${generic} =`)
    .trim()
}

/** The schema as json-schema-to-typescript should read it: every reference already a type name. */
function convert(schema: Schema, wide: Set<string>): Schema {
  const description = schema.description === undefined ? {} : { description: schema.description }
  if (isReference(schema)) return { ...description, tsType: typeReference(schema, wide) }
  if (schema['x-int64']) return { ...description, tsType: 'Int64' }
  if (isAnything(schema)) return { ...description, tsType: 'unknown' }
  const {
    title: _title,
    default: _default,
    minItems: _minItems,
    maxItems: _maxItems,
    allOf: _conditions,
    ...rest
  } = schema
  return mapSubschemas(rest, subschema => convert(subschema, wide))
}

function isAnything(schema: Schema): boolean {
  return ['type', 'enum', 'const', 'oneOf', 'tsType'].every(keyword => !(keyword in schema))
}

function typeReference(reference: { $ref: string }, wide: Set<string>): string {
  const name = nameOf(reference)
  return wide.has(name) ? `${name}<Int64>` : name
}

/** Labelled tuples, one per alternative; the labels are the names of the method's parameters. */
function tupleType(document: ServiceDocument, name: string, schema: Schema, method: Method): string {
  const labels = method.params.map(param => resolve<ContentDescriptor>(document, param).name)
  const alternatives = schema.oneOf ?? [schema]
  const tuples = alternatives.map(alternative => tuple(alternative, labels))
  const union =
    tuples.length === 1
      ? ` ${tuples[0]?.text}`
      : `\n${tuples.map(each => `  ${each.doc}\n  | ${each.text}`).join('\n')}`
  return `${docstring(schema.description ?? '')}\nexport type ${name} =${union}`
}

function tuple(schema: Schema, labels: string[]): { doc: string; text: string } {
  const items = Array.isArray(schema.items) ? schema.items : []
  const members = items.map((item, index) => {
    if (!isReference(item)) throw new Error(`Element ${index} of "${schema.title}" must be a reference.`)
    const optional = index < (schema.minItems ?? 0) ? '' : '?'
    return `${labels[index]}${optional}: ${nameOf(item)}`
  })
  return { doc: `// ${schema.title}: ${schema.description}`, text: `readonly [${members.join(', ')}]` }
}

/** Names of the schemas that hold a 64-bit member, directly or through a reference. */
export function wideSchemas(document: ServiceDocument): Set<string> {
  const wide = new Set<string>()
  let before = -1
  while (wide.size > before) {
    before = wide.size
    for (const [name, schema] of Object.entries(document.components.schemas)) {
      const found = mentions(
        schema,
        each => each['x-int64'] === true || (isReference(each) && wide.has(nameOf(each)))
      )
      if (found) wide.add(name)
    }
  }
  return wide
}

/** Names of the schemas that parameters are made of: their lists may be read-only. */
function inputSchemas(document: ServiceDocument): Set<string> {
  const inputs = new Set<string>()
  const visit = (schema: Schema) => {
    mentions(schema, each => {
      if (isReference(each) && !inputs.has(nameOf(each))) {
        inputs.add(nameOf(each))
        visit(resolve<Schema>(document, each))
      }
      return false
    })
  }
  for (const method of document.methods) visit(resolve<Schema>(document, method['x-params-schema']))
  return inputs
}

function mentions(schema: Schema, test: (schema: Schema) => boolean): boolean {
  let found = test(schema)
  mapSubschemas(schema, subschema => {
    found = mentions(subschema, test) || found
    return subschema
  })
  return found
}
