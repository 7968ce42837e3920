import { defaultMethodPrefix, type EndpointPath } from '@chain-data/protocol'
import type { Call } from './Call.ts'
import { type CallObject, type Core, needObject, sendOne } from './connect.ts'
import { methods } from './generated/methods.gen.ts'
import type { Method } from './Method.ts'

/** A call with method and params as they are on the wire. */
export interface WireCallObject extends CallObject {
  readonly method: string
  readonly params: readonly unknown[]
}

/** Sends a call as it is on the wire. */
export async function request(core: Core, call: WireCallObject): Promise<unknown> {
  needObject('request', call)
  return sendOne(core, writeWireCall(core, call), call)
}

/** @throws {ConfigurationError} The call cannot be written. */
export function writeWireCall({ write }: Core, call: WireCallObject): Call {
  const { method: name, params, endpoint } = call
  const named = methods.filter(
    each => name === (each.prefixed ? defaultMethodPrefix : '') + (each.wireName ?? each.name)
  )
  const known = named.find(({ endpoints }) => endpoints.includes(endpoint as EndpointPath)) ?? named[0]
  // What is not in the document is sent as it is, and its result is passed on.
  const open: Method = { name, endpoints: [endpoint as EndpointPath] }
  return write(known ?? open, call, name, params)
}
