import { defaultMethodPrefix, methodFacts } from './generated/methods.gen.ts'
import type { EndpointPath, MethodName } from './methodTypes.ts'

/**
 * A method's name on the wire of a host with this prefix.
 *
 * Methods that are never prefixed keep their name.
 */
export function wireName(method: MethodName, prefix: string = defaultMethodPrefix): string {
  const { prefixed, wireName: name = method } = methodFacts[method]
  return prefixed ? prefix + name.slice(defaultMethodPrefix.length) : name
}

/**
 * The method behind a name on the wire of a host with this prefix.
 *
 * @param endpoint - Where it is asked for. Absent: the first form of the method.
 * @returns `undefined` for a name that is no method there, any property name of objects included.
 */
export function methodOfWireName(
  name: string,
  prefix: string = defaultMethodPrefix,
  endpoint?: EndpointPath
): MethodName | undefined {
  const names = Object.keys(methodFacts) as MethodName[]
  return names.find(
    method =>
      wireName(method, prefix) === name &&
      (endpoint === undefined || methodFacts[method].endpoints.includes(endpoint))
  )
}
