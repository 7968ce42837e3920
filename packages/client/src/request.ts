import { defaultMethodPrefix, type EndpointPath } from '@chain-data/protocol'
import type { Core } from './connect.ts'
import { methods } from './generated/methods.gen.ts'
import type { Method } from './Method.ts'
import { type CallObject, needObject } from './sendCall.ts'

/** A call with method and params as they are on the wire. */
export interface WireCallObject extends CallObject {
  readonly method: string
  readonly params: readonly unknown[]
}

/** Sends a call as it is on the wire. */
export async function request(core: Core, call: WireCallObject): Promise<unknown> {
  needObject('request', call)
  return core.send(wireMethod(call), call, call.params)
}

/** The description of a method under its name on the wire; its params have no names. */
export function wireMethod({ method: name, endpoint }: WireCallObject): Method {
  const named = methods.filter(
    each => name === (each.prefixed ? defaultMethodPrefix : '') + (each.wireName ?? each.name)
  )
  const known = named.find(({ endpoints }) => endpoints.includes(endpoint as EndpointPath)) ?? named[0]
  // What is not in the document is sent as it is, and its result is passed on.
  return known
    ? { ...known, name, wireName: known.wireName ?? known.name, params: undefined }
    : { name, endpoints: [endpoint as EndpointPath] }
}
