import {
  type ContentDescriptor,
  endpointsOf,
  isReference,
  resolve,
  type Schema,
  type ServiceDocument
} from '../document.ts'

/** What must hold of the methods beyond the meta-schema: names, endpoints, prefixes, params forms. */
export function checkMethods(document: ServiceDocument): string[] {
  const problems: string[] = []
  const names = new Set<string>()
  const prefix = document['x-method-prefix'].default
  for (const method of document.methods) {
    const say = (problem: string) => problems.push(`method ${method.name}: ${problem}`)
    if (names.has(method.name)) say('the name is used twice')
    names.add(method.name)
    if (!method.summary || !method.description) say('summary and description are both needed')
    if (method['x-prefixed'] !== method.name.startsWith(prefix))
      say(`x-prefixed contradicts the name's prefix`)
    if (!isReference(method.result.schema)) say('the result schema must be a reference to a component')
    checkEndpoints(document, method, say)
    checkParams(document, method, say)
  }
  return problems
}

type Say = (problem: string) => void

function checkEndpoints(
  document: ServiceDocument,
  method: ServiceDocument['methods'][number],
  say: Say
): void {
  const known = new Map(document['x-endpoints'].map(endpoint => [endpoint.path, endpoint]))
  const endpoints = endpointsOf(method)
  const rules = new Set<string>()
  for (const path of endpoints) {
    const endpoint = known.get(path)
    if (endpoint) rules.add(endpoint.responseChainId)
    else say(`x-endpoint ${path} is none of x-endpoints`)
  }
  const expected = rules.size > 1 ? 'by-endpoint' : [...rules][0]
  if (expected !== undefined && method['x-response-chainId'] !== expected) {
    say(`x-response-chainId is ${method['x-response-chainId']}, but its endpoints say ${expected}`)
  }
}

function checkParams(document: ServiceDocument, method: ServiceDocument['methods'][number], say: Say): void {
  const schema = resolve<Schema>(document, method['x-params-schema'])
  const alternatives = schema.oneOf ?? [schema]
  const longest = Math.max(
    ...alternatives.map(alternative => alternative.maxItems ?? Number.POSITIVE_INFINITY)
  )
  if (longest !== method.params.length)
    say(`params has ${method.params.length} entries, x-params-schema up to ${longest}`)
  for (const param of method.params) {
    const { name, summary } = resolve<ContentDescriptor>(document, param)
    if (!summary) say(`parameter ${name} needs a summary`)
  }
}
