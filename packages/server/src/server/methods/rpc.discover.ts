import { documentWithPrefix } from '@chain-data/protocol/document'
import type { Handlers } from './MethodContext.ts'

/** The OpenRPC document, its method names as this server serves them. */
export function createDiscover(methodPrefix: string): Handlers['rpc.discover'] {
  const document = documentWithPrefix(methodPrefix)
  return async () => document
}
