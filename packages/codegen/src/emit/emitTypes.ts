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

/** What the names of other types are written with. */
interface Naming {
  /** The type parameters of each generic type. */
  parameters: Map<string, string[]>
  /** Components that params are made of. */
  inputs: Set<string>
  /** Components that are 0x-hex. */
  hex: Set<string>
  /** Whether params are being written: their texts are plain strings, so that callers need no casts. */
  isInput: boolean
}

const declarations: Record<string, string> = {
  Int64: 'Int64 extends number | bigint | string = number',
  Address: 'Address extends string = string'
}

/**
 * `types.gen.ts`: one exported type per schema component.
 *
 * Types that hold a 64-bit member are generic over its representation, `number` unless told
 * otherwise, so that the server can write `bigint` where the client reads `number`. Results with
 * Solana addresses are generic over their type, so that other libraries can brand them. 0x-hex in
 * results is of the type that EVM libraries take.
 */
export async function emitTypes(document: ServiceDocument): Promise<string> {
  const inputs = inputSchemas(document)
  const schemas = Object.entries(document.components.schemas)
  const hex = new Set(schemas.filter(([, schema]) => isHex(schema)).map(([name]) => name))
  const naming = { parameters: parametersOf(document), inputs, hex, isInput: false }
  const tuples = new Map(document.methods.map(method => [nameOf(method['x-params-schema']), method]))
  const parts: string[] = []
  for (const [name, schema] of Object.entries(document.components.schemas)) {
    const method = tuples.get(name)
    if (method) parts.push(tupleType(document, name, schema, method, { ...naming, isInput: true }))
    else parts.push(await plainType(name, schema, { ...naming, isInput: inputs.has(name) }))
  }
  return `${parts.join('\n\n')}\n`
}

async function plainType(name: string, schema: Schema, naming: Naming): Promise<string> {
  const convertible = { ...convert(schema, naming), description: schema.description ?? '' }
  if (isHex(schema)) convertible.tsType = '`0x${string}`'
  if (schema.type === 'object' && schema.properties === undefined) {
    convertible.tsType = '{ [key: string]: unknown }'
  }
  if (naming.isInput && schema.type === 'array' && isReference(schema.items)) {
    convertible.tsType = `readonly ${typeReference(schema.items, naming)}[]`
  }
  const text = await compileType(convertible as JSONSchema, name, {
    bannerComment: '',
    additionalProperties: false,
    unknownAny: true,
    style: { semi: false, singleQuote: true, printWidth: 110 }
  })
  const declared = naming.parameters.get(name)?.map(parameter => declarations[parameter])
  const generic = declared ? `<${declared.join(', ')}>` : ''
  return text
    .replace(`export interface ${name} {`, `export interface ${name}${generic} {`)
    .replace(`export type ${name} =`, `export type ${name}${generic} =`)
    .trim()
}

/** The schema as json-schema-to-typescript should read it: every reference already a type name. */
function convert(schema: Schema, naming: Naming): Schema {
  const description = schema.description === undefined ? {} : { description: schema.description }
  if (isReference(schema)) return { ...description, tsType: typeReference(schema, naming) }
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
  return mapSubschemas(rest, subschema => convert(subschema, naming))
}

function isAnything(schema: Schema): boolean {
  return ['type', 'enum', 'const', 'oneOf', 'tsType'].every(keyword => !(keyword in schema))
}

function isHex(schema: Schema): boolean {
  return schema.pattern?.startsWith('^0x') ?? false
}

function typeReference(reference: { $ref: string }, naming: Naming): string {
  const name = nameOf(reference)
  if (naming.isInput) return naming.hex.has(name) ? 'string' : name
  if (name === solanaAddress) return 'Address'
  const parameters = naming.parameters.get(name)
  return parameters ? `${name}<${parameters.join(', ')}>` : name
}

/** Labelled tuples, one per alternative; the labels are the names of the method's parameters. */
function tupleType(
  document: ServiceDocument,
  name: string,
  schema: Schema,
  method: Method,
  naming: Naming
): string {
  const labels = method.params.map(param => resolve<ContentDescriptor>(document, param).name)
  const alternatives = schema.oneOf ?? [schema]
  const tuples = alternatives.map(alternative => tuple(alternative, labels, naming))
  const union =
    tuples.length === 1
      ? ` ${tuples[0]?.text}`
      : `\n${tuples.map(each => `  ${each.doc}\n  | ${each.text}`).join('\n')}`
  return `${docstring(schema.description ?? '')}\nexport type ${name} =${union}`
}

function tuple(schema: Schema, labels: string[], naming: Naming): { doc: string; text: string } {
  const items = Array.isArray(schema.items) ? schema.items : []
  const members = items.map((item, index) => {
    if (!isReference(item)) throw new Error(`Element ${index} of "${schema.title}" must be a reference.`)
    const optional = index < (schema.minItems ?? 0) ? '' : '?'
    return `${labels[index]}${optional}: ${typeReference(item, naming)}`
  })
  return { doc: `// ${schema.title}: ${schema.description}`, text: `readonly [${members.join(', ')}]` }
}

const solanaAddress = 'SolanaAddress'

/** The type parameters of each schema: of those that hold a 64-bit member or, in a result, a Solana address. */
export function parametersOf(document: ServiceDocument): Map<string, string[]> {
  const inputs = inputSchemas(document)
  const wide = holders(document, schema => schema['x-int64'] === true)
  const addressed = holders(document, schema => isReference(schema) && nameOf(schema) === solanaAddress)
  const names = Object.keys(document.components.schemas).filter(name => !inputs.has(name))
  return new Map(
    names
      .map(
        name =>
          [name, [...(wide.has(name) ? ['Int64'] : []), ...(addressed.has(name) ? ['Address'] : [])]] as const
      )
      .filter(([, parameters]) => parameters.length > 0)
      .map(([name, parameters]) => [name, [...parameters]])
  )
}

/** Names of the schemas that hold such a schema, directly or through a reference. */
function holders(document: ServiceDocument, test: (schema: Schema) => boolean): Set<string> {
  const found = new Set<string>()
  let before = -1
  while (found.size > before) {
    before = found.size
    for (const [name, schema] of Object.entries(document.components.schemas)) {
      if (mentions(schema, each => test(each) || (isReference(each) && found.has(nameOf(each)))))
        found.add(name)
    }
  }
  return found
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
