import { mapSubschemas } from '../../compileSchemas.ts'
import {
  type ContentDescriptor,
  endpointsOf,
  examplesOf,
  isReference,
  type Method,
  nameOf,
  resolve,
  type Schema,
  type ServiceDocument
} from '../../document.ts'
import { parametersOf } from '../emitTypes.ts'

/** One argument of a call, as the client takes it. */
export interface Argument {
  readonly name: string
  readonly alias?: string
  readonly isRequired: boolean
  readonly description: string
  /** As TypeScript. */
  readonly type: string
}

/** One position of the params: an argument, or an object made of several. */
export type Position = Argument | { readonly options: readonly Argument[] }

/** A method as the client shows it: everything of it that can be derived from the document. */
export interface ClientMethod {
  readonly method: Method
  readonly name: string
  /** The client's name of the method that it is a form of, at another endpoint; absent: it is none. */
  readonly formOf?: string
  /** Name of the type of its arguments. */
  readonly argumentsType: string
  readonly positions: readonly Position[]
  readonly endpoints: readonly string[]
  readonly isChainless: boolean
  readonly resultName: string
  /** Type parameters of the result, such as `Int64`. */
  readonly resultParameters: readonly string[]
  readonly resultDescription: string
  readonly result: 'list' | 'object'
  readonly int64: readonly string[]
  readonly rounded: readonly string[]
  /** Names of the members that are decimal digits and become `bigint`. */
  readonly amounts: readonly string[]
  /** Names of the members next to them that are free text. */
  readonly texts: readonly string[]
  /** The arguments of the document's first example that can be said in arguments; by name, with the chain. */
  readonly example: Readonly<Record<string, unknown>> | undefined
}

/** @throws {Error} The method is of a form that the client cannot show yet; the message says which. */
export function readClientMethod(document: ServiceDocument, method: Method): ClientMethod {
  const schema = method.result.schema
  if (!isReference(schema)) throw new Error(`The result of ${method.name} must be a reference.`)
  const result = resolve<Schema>(document, schema)
  if (result.type !== 'array' && result.type !== 'object') {
    throw new Error(`The result of ${method.name} must be a list or an object.`)
  }
  const isExact = method['x-exact-amounts'] ?? false
  const positions = method.params.map(param =>
    readPosition(document, resolve<ContentDescriptor>(document, param))
  )
  const integers = integersOf(document, result, [])
  const hasTwin = ({ holder, name }: Integer) => `${name}String` in (holder.properties ?? {})
  return {
    method,
    name: clientName(document, method, method.name),
    ...(method['x-wire-name'] && { formOf: clientName(document, method, method['x-wire-name']) }),
    argumentsType: nameOf(method['x-params-schema']).replace(/Params$/, 'Arguments'),
    positions,
    endpoints: endpointsOf(method),
    isChainless: method['x-needs-chain'] === false,
    resultName: nameOf(schema),
    resultParameters: parametersOf(document).get(nameOf(schema)) ?? [],
    resultDescription: result.description ?? '',
    result: result.type === 'array' ? 'list' : 'object',
    int64: unique(integers.filter(hasTwin).map(({ path }) => path)),
    rounded: unique(integers.filter(each => !hasTwin(each)).map(({ path }) => path)),
    amounts: isExact ? unique(membersOf(document, result, '', isDigits)).sort() : [],
    texts: isExact ? unique(membersOf(document, result, '', isFreeText)).sort() : [],
    example: readExample(document, method, positions)
  }
}

/** The name without the host's prefix, and without a namespace such as `rpc.`. */
function clientName(document: ServiceDocument, { 'x-prefixed': prefixed }: Method, name: string): string {
  return prefixed
    ? name.slice(document['x-method-prefix'].default.length)
    : name.slice(name.lastIndexOf('.') + 1)
}

/** Of a parameter with several forms the first is the one that the client writes. */
function readPosition(document: ServiceDocument, param: ContentDescriptor): Position {
  const [form = param.schema] = param.schema.oneOf ?? []
  const schema = resolve<Schema>(document, form as Schema & { $ref: string })
  if (schema.type === 'object') {
    const options = Object.entries(schema.properties ?? {}).map(([name, property]) => {
      if (typeof property === 'boolean') throw new Error(`${param.name}/${name} needs a schema.`)
      const isRequired = schema.required?.includes(name) ?? false
      return readArgument(
        document,
        { name, isRequired, ...(property.description && { description: property.description }) },
        property
      )
    })
    return { options }
  }
  const [name = param.name, alias] = param['x-arguments'] ?? []
  // The summary of a parameter with several forms speaks of all of them.
  const summary = param.schema.oneOf ? '' : (param.summary ?? '')
  const description = `${summary} ${schema.description ?? ''}`.trim()
  const isRequired = param.required ?? false
  return readArgument(document, { name, isRequired, description, ...(alias && { alias }) }, schema)
}

function readArgument(
  document: ServiceDocument,
  known: Pick<Argument, 'name' | 'isRequired'> & { readonly description?: string; readonly alias?: string },
  schema: Schema
): Argument {
  const resolved = resolve<Schema>(document, schema as Schema & { $ref: string })
  return { description: resolved.description ?? '', ...known, type: typeOf(document, schema) }
}

/** The type of an argument. Texts are plain strings whatever their pattern, so that callers need no casts. */
function typeOf(document: ServiceDocument, schema: Schema): string {
  const {
    type,
    enum: values,
    items,
    ...rest
  } = resolve<Schema>(document, schema as Schema & { $ref: string })
  if (values) return values.map(value => JSON.stringify(value).replaceAll('"', "'")).join(' | ')
  if (rest.const !== undefined) return JSON.stringify(rest.const).replaceAll('"', "'")
  if (type === 'integer' || type === 'number') return 'number'
  if (type === 'string' || type === 'boolean') return type
  if (type === 'array' && items && !Array.isArray(items)) {
    const item = typeOf(document, items)
    return `readonly ${item.includes('|') ? `(${item})` : item}[]`
  }
  throw new Error(`An argument of type ${type} is not supported.`)
}

interface Integer {
  readonly path: string
  readonly name: string
  readonly holder: Schema
}

/** The 64-bit members below a schema; lists leave no trace in the path. */
function integersOf(document: ServiceDocument, schema: Schema, path: readonly string[]): Integer[] {
  const found: Integer[] = []
  const holder = resolve<Schema>(document, schema as Schema & { $ref: string })
  for (const [name, property] of Object.entries(holder.properties ?? {})) {
    if (typeof property === 'boolean') continue
    const inner = [...path, name]
    if (property['x-int64']) found.push({ path: inner.join('.'), name, holder })
    else found.push(...integersOf(document, property, inner))
  }
  const { properties: _, ...others } = holder
  mapSubschemas(others, subschema => {
    found.push(...integersOf(document, subschema, path))
    return subschema
  })
  return found
}

type Test = (schema: Schema, resolved: Schema) => boolean

const isDigits: Test = schema =>
  isReference(schema) && ['DecimalString', 'SignedDecimalString'].includes(nameOf(schema))

const isFreeText: Test = (_schema, { type, pattern, enum: values, const: value }) =>
  type === 'string' && [pattern, values, value].every(each => each === undefined)

/** Names of the members below a schema that pass a test. */
function membersOf(document: ServiceDocument, schema: Schema, name: string, test: Test): string[] {
  const holder = resolve<Schema>(document, schema as Schema & { $ref: string })
  if (test(schema, holder)) return [name]
  const found = Object.entries(holder.properties ?? {}).flatMap(([key, property]) =>
    typeof property === 'boolean' ? [] : membersOf(document, property, key, test)
  )
  const { properties: _, ...others } = holder
  mapSubschemas(others, subschema => {
    found.push(...membersOf(document, subschema, name, test))
    return subschema
  })
  return found
}

/** The document's first example whose params have the form that the client writes, as arguments. */
function readExample(document: ServiceDocument, method: Method, positions: readonly Position[]) {
  for (const { chainId, params } of examplesOf(document, method)) {
    const fits = params.every((param, index) => {
      const position = positions[index]
      const isObject = typeof param === 'object' && !Array.isArray(param)
      return position !== undefined && 'options' in position === isObject
    })
    if (!fits) continue
    const given = params.map((param, index) => {
      const position = positions[index]
      return position && 'name' in position ? { [position.name]: param } : (param as object)
    })
    const chain = method['x-needs-chain'] === false ? {} : { chainId }
    return Object.assign({}, ...given, chain) as Record<string, unknown>
  }
  return undefined
}

function unique(values: readonly string[]): string[] {
  return [...new Set(values)]
}
