import type { JsonObject } from '@chain-data/protocol'
import { documentWithPrefix } from '@chain-data/protocol/document'
import { type Method, specMethod } from '../methods/Method.ts'

/** Makes `rpc.discover`, which answers the OpenRPC document of what is served: methods of a host's own are in it too. */
export function discoverMethod(served: readonly Method[], prefix: string): Method {
  const whole = documentWithPrefix(prefix)
  const names = new Set(served.map(({ wireName }) => wireName))
  const own = served.flatMap(({ description = [] }) => description) as JsonObject[]
  const methods = whole.methods.filter(({ name }) => names.has(String(name)) || name === 'rpc.discover')
  const isWhole = own.length === 0 && methods.length === whole.methods.length
  const document = isWhole ? whole : { ...whole, methods: [...methods, ...own] }
  return specMethod('rpc.discover', prefix, async () => document)
}
