import { defaultMethodPrefix, methodFacts } from './generated/methods.gen.ts'
import type { MethodName } from './methodTypes.ts'

/**
 * A method's name on the wire of a host with this prefix.
 *
 * Methods that are never prefixed keep their name.
 */
export function wireName(method: MethodName, prefix: string = defaultMethodPrefix): string {
  if (!methodFacts[method].prefixed) return method
  return prefix + method.slice(defaultMethodPrefix.length)
}

/**
 * The method behind a name on the wire of a host with this prefix.
 *
 * @returns `undefined` for a name that is no method there, any property name of objects included.
 */
export function methodOfWireName(name: string, prefix: string = defaultMethodPrefix): MethodName | undefined {
  const names = Object.keys(methodFacts) as MethodName[]
  return names.find(method => wireName(method, prefix) === name)
}
