import type { EndpointPath } from '@chain-data/protocol'
import type { Batching, Call, Streaming } from './Call.ts'
import type { CallOptions, ClientOptions } from './ClientOptions.ts'
import { need } from './errors.ts'
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
  /** The chain of every call that names none; `undefined` where each call has to. */
  readonly chainId: number | undefined
  /**
   * Writes one call.
   *
   * @param params - By position, as a `request` gives them; absent: made from the arguments in the call object.
   * @throws {ConfigurationError} The call cannot be written.
   */
  readonly write: (method: Method, call: CallObject, params?: readonly unknown[]) => Call
  /** Sends calls of one endpoint; each then has its value or its error. */
  readonly send: (
    calls: readonly Call[],
    options: CallOptions,
    batching?: Batching,
    streaming?: Streaming
  ) => Promise<void>
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
    write(method, call, params) {
      const { name, prefixed, wireName = name } = method
      needObject(name, call)
      const { endpoint = method.endpoints[0] } = call
      need(
        /^\/(evm-chain|solana)$/.test(`${endpoint}`),
        `endpoint must be /evm-chain or /solana; got ${endpoint}`,
        'ENDPOINT_MISSING',
        name
      )
      const chainId = readNumber('chainId', 0, settings.chainId, call, name)
      need(chainId !== undefined || method.chainless, 'chainId is missing', 'CHAIN_ID_MISSING', name)
      const id = ++lastId
      const request = {
        jsonrpc: '2.0',
        id,
        method: (prefixed ? settings.methodPrefix : '') + wireName,
        chainId,
        params: params ?? toParams(method, call)
      }
      try {
        return { id, method, endpoint: endpoint as EndpointPath, body: JSON.stringify(request) }
      } catch {
        need(false, 'the arguments must be JSON', invalid, name)
      }
    },
    send: (...sending) => sendCalls(settings, transport, ...sending)
  }
}

/**
 * Calls a method.
 *
 * @param params - As {@link Core.write} takes them.
 * @throws {ChainDataClientError} And nothing else.
 */
export async function callMethod(
  { write, send }: Core,
  method: Method,
  call: CallObject,
  params?: readonly unknown[]
): Promise<unknown> {
  const written = write(method, call, params)
  await send([written], call)
  if (written.error) throw written.error
  return written.value
}

const invalid = 'INVALID_ARGUMENT'

/** @throws {ConfigurationError} Not an object, which only types prevent. */
export function needObject(name: string, call: unknown): asserts call is object {
  if (typeof call === 'object' && call) return
  need(false, `takes one object; got ${String(call).slice(0, 100)}`, invalid, name)
}

/** The params of a call by position, made of its arguments; what is absent at their end is left out. */
function toParams({ name, params = [] }: Method, call: object): unknown[] {
  const given = call as Record<string, unknown>
  const values = params.map(param => {
    if (typeof param !== 'string') {
      const isGiven = param.some(member => given[member] !== undefined)
      return isGiven ? Object.fromEntries(param.map(member => [member, given[member]])) : undefined
    }
    const [argument, other] = param.split(/[|?]/) as [string, string?]
    const value = given[argument] ?? given[`${other}`]
    need(value != null || param.endsWith('?'), `${argument} is missing`, invalid, name)
    return value
  })
  while (values.length && values.at(-1) === undefined) values.pop()
  return values
}
