import type { ServiceDocument } from '../document.ts'

/** `document.gen.ts`: the document itself, as `rpc.discover` returns it. */
export function emitDocument(document: ServiceDocument): string {
  return `import type { OpenRpcDocument } from './types.gen.ts'

/** The OpenRPC document of the service, method names with the default prefix. */
export const openRpcDocument: OpenRpcDocument = ${JSON.stringify(document, null, 1)}
`
}
