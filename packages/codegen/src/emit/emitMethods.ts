import { endpointsOf, isReference, nameOf, type ServiceDocument } from '../document.ts'
import { parametersOf } from './emitTypes.ts'
import { docstring, literal, propertyKey, quote } from './typeScript.ts'

/** `methods.gen.ts`: the method map, and what is true of each method, endpoint and limit, as data. */
export function emitMethods(document: ServiceDocument): string {
  const parameters = parametersOf(document)
  const used = new Set<string>()
  const entries = document.methods.map(method => {
    const params = nameOf(method['x-params-schema'])
    const schema = method.result.schema
    if (!isReference(schema)) throw new Error(`The result of ${method.name} must be a reference.`)
    const result = nameOf(schema)
    used.add(params).add(result)
    const resultType = parameters.get(result)?.includes('Int64') ? `${result}<Int64>` : result
    return `${docstring(method.summary ?? '', '  ')}\n  ${propertyKey(method.name)}: { params: ${params}; result: ${resultType} }`
  })
  const facts = Object.fromEntries(
    document.methods.map(method => [
      method.name,
      {
        ...(method['x-wire-name'] && { wireName: method['x-wire-name'] }),
        endpoints: endpointsOf(method),
        prefixed: method['x-prefixed'],
        responseChainId: method['x-response-chainId'],
        needsChain: method['x-needs-chain'] ?? true,
        extension: method['x-extension'] ?? false,
        streams: method['x-stream'] ?? false,
        errors: (method.errors ?? []).map(nameOf)
      }
    ])
  )
  const endpoints = Object.fromEntries(
    document['x-endpoints'].map(({ path, family, responseChainId }) => [
      path,
      { path, family, responseChainId }
    ])
  )
  const limits = Object.entries(document['x-limits']).map(
    ([name, limit]) =>
      `${docstring(`${limit.description} In ${limit.unit}.`, '  ')}\n  ${propertyKey(name)}: ${limit.default}`
  )
  const { description, ...http } = document['x-envelope'].http
  const { realm, charset } = document.components['x-securitySchemes'].basicAuth
  const transport = { ...http, challenge: `Basic realm="${realm}", charset="${charset}"` }
  return `import type { MethodFacts } from '../methodTypes.ts'
import type { ${[...used].sort().join(', ')} } from './types.gen.ts'

/** Params and result of every method, by its name in the document; a form of a method at another endpoint by the name that the document gives it (\`x-name\`). */
export interface Methods<Int64 extends number | bigint | string = number> {
${entries.join('\n')}
}

/** Version of the interface (semantic versioning); it is not on the wire. */
export const serviceVersion = ${quote(document.info.version)}

${docstring(document['x-method-prefix'].description)}
export const defaultMethodPrefix = ${quote(document['x-method-prefix'].default)}

/** The endpoints, by path. \`responseChainId\`: whether answers carry the request's chainId. */
export const endpoints = ${literal(endpoints)} as const

${docstring(description)}
export const transport = ${literal(transport)} as const

/** What is true of each method, as data. */
export const methodFacts: { readonly [M in keyof Methods]: MethodFacts } = ${literal(facts)}

/** Default limits of a host. */
export const limits = {
${limits.join(',\n')}
} as const
`
}
