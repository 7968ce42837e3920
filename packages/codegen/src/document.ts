/** A JSON Schema (draft-07) as far as this service's document uses it. */
export interface Schema {
  $ref?: string
  title?: string
  description?: string
  type?: string | string[]
  properties?: Record<string, Schema | boolean>
  required?: string[]
  additionalProperties?: Schema | boolean
  items?: Schema | Schema[]
  additionalItems?: boolean
  minItems?: number
  maxItems?: number
  minimum?: number
  maximum?: number
  pattern?: string
  enum?: unknown[]
  const?: unknown
  default?: unknown
  oneOf?: Schema[]
  allOf?: Schema[]
  if?: Schema
  then?: Schema
  else?: Schema
  tsType?: string
  'x-when'?: Schema
  'x-expected'?: string
  'x-int64'?: boolean
  'x-limit'?: string
  'x-extension'?: boolean
}

export interface Reference {
  $ref: string
}

export interface ContentDescriptor {
  name: string
  summary?: string
  required?: boolean
  schema: Schema
  'x-arguments'?: [string, string?]
}

interface Example {
  name: string
  value: unknown
}

export interface ExamplePairing {
  name: string
  params: (Example | Reference)[]
  result: Example | Reference
  'x-chainId': number
  'x-endpoint'?: string
  'x-cursors'?: string[]
}

export interface Method {
  name: string
  summary?: string
  description?: string
  params: (ContentDescriptor | Reference)[]
  result: ContentDescriptor
  errors?: Reference[]
  examples?: (ExamplePairing | Reference)[]
  'x-params-schema': Reference
  'x-endpoint': string | string[]
  'x-prefixed': boolean
  'x-response-chainId': 'absent' | 'echo' | 'by-endpoint'
  'x-needs-chain'?: boolean
  'x-exact-amounts'?: boolean
  'x-extension'?: boolean
  'x-stream'?: boolean
  'x-forms'?: MethodForm[]
  /** Name on the wire, where it is not `name`: only after {@link withForms}. */
  'x-wire-name'?: string
}

/** What a method has in another form at another endpoint; the rest is as the method says. */
interface MethodForm extends Omit<Partial<Method>, 'name' | 'x-forms' | 'x-wire-name'> {
  'x-name': string
  'x-endpoint': string
}

export interface ErrorCase {
  code: number
  httpStatus: number
  message: string
  retryable: boolean
  when: string
  remedy: string
  data: Reference
  example: { error: { code: number; message: string; data: { reason: string } } }
}

interface Limit {
  default: number
  unit: string
  description: string
}

interface Endpoint {
  path: string
  family: string
  responseChainId: 'absent' | 'echo'
  description: string
}

/** The OpenRPC document with the members this service adds (spec/README.md explains them). */
export interface ServiceDocument {
  openrpc: string
  info: { title: string; version: string; description: string }
  methods: Method[]
  components: {
    schemas: Record<string, Schema>
    errors: Record<string, { code: number; message: string; data: { reason: string } }>
    'x-securitySchemes': { basicAuth: { realm: string; charset: string } }
  }
  'x-endpoints': Endpoint[]
  'x-method-prefix': { default: string; description: string }
  'x-envelope': {
    request: Reference
    batch: Reference
    success: Reference
    failure: Reference
    http: {
      description: string
      method: string
      requestContentType: string
      responseContentType: string
      streamContentType: string
      streamHeaders: Readonly<Record<string, string>>
      allow: string
      requestHeaders: readonly string[]
      exposedHeaders: readonly string[]
      preflightSeconds: number
      answerHeaders: Readonly<Record<string, string>>
    }
    id: { description: string }
    chainId: { description: string }
    events: { description: string }
    batchRules: { minItems: number; maxItems: number; description: string }
  }
  'x-limits': Record<string, Limit>
  'x-errors': Record<string, ErrorCase>
}

/** True for `{ "$ref": ... }`. */
export function isReference(value: unknown): value is Reference {
  return typeof value === 'object' && value !== null && typeof (value as Reference).$ref === 'string'
}

/**
 * What a local reference (`#/...`) points at.
 *
 * @returns `undefined` for a dangling or non-local reference.
 */
export function lookUp(document: unknown, ref: string): unknown {
  if (!ref.startsWith('#/')) return undefined
  let target: unknown = document
  for (const token of ref.slice(2).split('/')) {
    if (typeof target !== 'object' || target === null) return undefined
    const key = token.replaceAll('~1', '/').replaceAll('~0', '~')
    if (!Object.hasOwn(target, key)) return undefined
    target = (target as Record<string, unknown>)[key]
  }
  return target
}

/**
 * The value itself, or what it refers to.
 *
 * @throws {Error} The reference dangles; the checks find that first.
 */
export function resolve<T extends object>(document: unknown, value: T | Reference): T {
  if (!isReference(value)) return value
  const target = lookUp(document, value.$ref)
  if (target === undefined) throw new Error(`Nothing at ${value.$ref}.`)
  return target as T
}

/** Last part of a reference: the component's name. */
export function nameOf(reference: Reference): string {
  return reference.$ref.slice(reference.$ref.lastIndexOf('/') + 1)
}

/** The document with each form of a method as a method of its own, so that types, validators and pages are made of each alike. */
export function withForms(document: ServiceDocument): ServiceDocument {
  const methods = document.methods.flatMap(({ 'x-forms': forms = [], ...method }) => [
    method,
    ...forms.map(({ 'x-name': name, ...form }) => ({ ...method, ...form, name, 'x-wire-name': method.name }))
  ])
  return { ...document, methods }
}

/** The endpoints of a method, in the document's order. */
export function endpointsOf(method: Method): string[] {
  const endpoint = method['x-endpoint']
  return typeof endpoint === 'string' ? [endpoint] : endpoint
}

/** An example pairing of a method with its references followed and its values by position. */
export interface CallExample {
  name: string
  chainId: number
  endpoint: string
  params: unknown[]
  result: unknown
  /** Of a stream, the id of each event of the result. */
  cursors?: string[]
}

/** All examples of a method. */
export function examplesOf(document: ServiceDocument, method: Method): CallExample[] {
  return (method.examples ?? []).map(entry => {
    const pairing = resolve<ExamplePairing>(document, entry)
    return {
      name: pairing.name,
      chainId: pairing['x-chainId'],
      endpoint: pairing['x-endpoint'] ?? endpointsOf(method)[0] ?? '',
      params: pairing.params.map(param => resolve<Example>(document, param).value),
      result: resolve<Example>(document, pairing.result).value,
      ...(pairing['x-cursors'] && { cursors: pairing['x-cursors'] })
    }
  })
}
