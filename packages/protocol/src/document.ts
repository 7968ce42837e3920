/**
 * The OpenRPC document itself, as `rpc.discover` returns it.
 *
 * @packageDocumentation
 */
import { openRpcDocument } from './generated/document.gen.ts'
import { defaultMethodPrefix } from './generated/methods.gen.ts'
import type { JsonObject, OpenRpcDocument } from './generated/types.gen.ts'
import { methodOfWireName, wireName } from './wireName.ts'

export { openRpcDocument } from './generated/document.gen.ts'

/**
 * The document as a host with another method prefix serves it: the method names changed, nothing else.
 *
 * @returns The document itself for the default prefix; never modify it.
 */
export function documentWithPrefix(prefix: string): OpenRpcDocument {
  if (prefix === defaultMethodPrefix) return openRpcDocument
  return { ...openRpcDocument, methods: openRpcDocument.methods.map(method => rename(method, prefix)) }
}

function rename(method: JsonObject, prefix: string): JsonObject {
  const name = methodOfWireName(String(method.name))
  return name === undefined ? method : { ...method, name: wireName(name, prefix) }
}
