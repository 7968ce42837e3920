import type { EndpointPath } from '@chain-data/protocol'
import type { Call } from './Call.ts'
import type { CallOptions, ClientOptions } from './ClientOptions.ts'
import { need, quote, refuse } from './errors.ts'
import type { Method } from './Method.ts'
import { readNumber, readOptions } from './readOptions.ts'
import { sendCalls } from './sendCalls.ts'
import type { Transport } from './transport.ts'

/** What every call object may hold, whatever its method. */
export interface CallObject extends CallOptions {
  readonly chainId?: number | undefined
  readonly endpoint?: EndpointPath | undefined
}

/** Writes and sends calls to one service. Its settings live in closures, so that printing it shows functions. */
export interface Core {
  /** The chain of every call that names none. */
  readonly chainId: number | undefined
  /**
   * Writes one call.
   *
   * @param name - The method as the caller named it, for messages.
   * @param params - By position, as a `request` gives them; absent: made from the arguments in the call object.
   * @throws {ConfigurationError} The call cannot be written.
   */
  readonly write: (method: Method, call: CallObject, name: string, params?: readonly unknown[]) => Call
  /** Sends calls of one endpoint; each then has its value or its error. */
  readonly send: (calls: readonly Call[], options: CallOptions, isBatch: boolean) => Promise<void>
}

/**
 * A connection to one service, over any transport.
 *
 * @throws {ConfigurationError} An option cannot work.
 */
export function connect(options: ClientOptions, transport: Transport): Core {
  const settings = readOptions(options)
  let lastId = 0
  return {
    chainId: settings.chainId,
    write(method, call, name, params) {
      const { endpoints, prefixed, wireName = method.name } = method
      needObject(name, call)
      const { endpoint = endpoints[0] } = call
      if (endpoint !== '/evm-chain' && endpoint !== '/solana') {
        refuse(`endpoint must be /evm-chain or /solana; got ${quote(endpoint)}`, 'ENDPOINT_MISSING', name)
      }
      const chainId = readNumber('chainId', 0, settings.chainId, call, name)
      need(chainId !== undefined || method.chainless, 'chainId is missing', 'CHAIN_ID_MISSING', name)
      const isWire = params !== undefined
      const written = params ?? toParams(method, call)
      const id = ++lastId
      const wire = prefixed ? settings.methodPrefix + method.name : wireName
      try {
        const body = JSON.stringify({ jsonrpc: '2.0', id, method: wire, chainId, params: written })
        return { id, name, method, params: written, chainId, endpoint, body, isWire }
      } catch {
        refuse('the arguments cannot be written as JSON', invalid, name)
      }
    },
    send: (calls, callOptions, isBatch) => sendCalls(settings, transport, calls, callOptions, isBatch)
  }
}

/**
 * Calls a method of the document.
 *
 * @throws {ChainDataClientError} And nothing else.
 */
export async function callMethod(core: Core, method: Method, call: CallObject): Promise<unknown> {
  return sendOne(core, core.write(method, call, method.name), call)
}

/** Sends one call by itself. */
export async function sendOne({ send }: Core, call: Call, options: CallOptions): Promise<unknown> {
  await send([call], options, false)
  if (call.error) throw call.error
  return call.value
}

const invalid = 'INVALID_ARGUMENT'

/** @throws {ConfigurationError} Not an object, which only types prevent. */
export function needObject(name: string, call: unknown): asserts call is object {
  if (!call || typeof call !== 'object') refuse(`takes one object; got ${quote(call)}`, invalid, name)
}

/** The params of a call by position, made of its arguments; what is absent at their end is left out. */
function toParams({ name, params = [] }: Method, call: object): unknown[] {
  const values = params.map(param => {
    const given = call as Record<string, unknown>
    if ('options' in param) {
      const options = param.options.filter(option => given[option] !== undefined)
      return options.length ? Object.fromEntries(options.map(option => [option, given[option]])) : undefined
    }
    const value = given[param.name] ?? given[`${param.alias}`]
    if (!param.optional && value == null) refuse(`${param.name} is missing`, invalid, name)
    return value
  })
  while (values.length && values.at(-1) === undefined) values.pop()
  return values
}
