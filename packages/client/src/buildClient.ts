import { defaultMethodPrefix, type EndpointPath, methodEndpoints } from '@chain-data/protocol'
import type { ChainOptional, Client, Settled } from './Client.ts'
import type { CallOptions, ClientOptions } from './ClientOptions.ts'
import { ConfigurationError } from './errors.ts'
import { iterateTransactions } from './iterateTransactions.ts'
import { checkChainId, readOptions } from './readOptions.ts'
import { sendCalls, type WireCall } from './sendCalls.ts'
import type { Transport } from './transport.ts'

/** Most calls of one POST; the document's limit `batchRequests`. */
export const largestBatch = 100

interface MethodCall extends CallOptions, ChainOptional {
  readonly method: string
  readonly params: readonly unknown[]
  readonly endpoint?: EndpointPath | undefined
}

/** A client without its types: overloads and generics of the entries give them back. */
export type AnyClient = Client<ChainOptional, never>

/**
 * The client over any transport. Its settings live in this closure, so that printing the client shows functions.
 *
 * @throws {ConfigurationError} An option cannot work.
 */
export function buildClient(options: ClientOptions, transport: Transport): AnyClient {
  const settings = readOptions(options)
  let lastId = 0

  /** @throws {ConfigurationError} The call cannot be written. */
  function write(call: MethodCall): WireCall {
    const { method, params, endpoint: given, chainId = settings.chainId } = takeObject('request', call)
    const known = Object.hasOwn(methodEndpoints, method)
    const endpoint = given ?? (known ? methodEndpoints[method as keyof typeof methodEndpoints] : undefined)
    if (endpoint === undefined)
      throw new ConfigurationError('ENDPOINT_MISSING', `${method}: name its endpoint`)
    if (endpoint !== '/evm-chain' && endpoint !== '/solana') {
      throw invalid(`${method}: endpoint must be '/evm-chain' or '/solana'`)
    }
    if (chainId !== undefined) checkChainId(chainId)
    else if (method !== 'rpc.discover') {
      throw new ConfigurationError(
        'CHAIN_ID_MISSING',
        `${method} needs a chainId: give one with the call, or to createClient as the default`
      )
    }
    const wireName = known
      ? method.replace(RegExp(`^${defaultMethodPrefix}`), () => settings.methodPrefix)
      : method
    const id = ++lastId
    try {
      const body = JSON.stringify({ jsonrpc: '2.0', id, method: wireName, chainId, params })
      return { id, method, wireName, endpoint, body }
    } catch {
      throw invalid(`${method}: params cannot be written as JSON`)
    }
  }

  async function request(call: MethodCall): Promise<unknown> {
    const [outcome] = await sendCalls(settings, transport, [write(call)], call, false)
    if (outcome?.status === 'fulfilled') return outcome.value
    throw outcome?.reason
  }

  async function batch(calls: readonly MethodCall[], options: CallOptions = {}): Promise<Settled<unknown>[]> {
    if (!Array.isArray(calls)) throw invalid('batch takes a list of { method, params }')
    const outcomes: Settled<unknown>[] = []
    const posts = new Map<EndpointPath, { call: WireCall; place: number }[][]>()
    for (const [place, entry] of calls.entries()) {
      try {
        const call = write(entry)
        const lists = posts.get(call.endpoint) ?? []
        posts.set(call.endpoint, lists)
        if ((lists.at(-1)?.length ?? largestBatch) === largestBatch) lists.push([])
        lists.at(-1)?.push({ call, place })
      } catch (error) {
        outcomes[place] = { status: 'rejected', reason: error as ConfigurationError }
      }
    }
    await Promise.all(
      [...posts.values()].flat().map(async list => {
        const sent = list.map(({ call }) => call)
        const settled = await sendCalls(settings, transport, sent, options, true)
        for (const [index, { place }] of list.entries()) outcomes[place] = settled[index] as Settled<unknown>
      })
    )
    return outcomes
  }

  /** A function of the client that turns its one object into params. */
  function method<Call extends object>(
    name: string,
    toParams: (call: Call) => readonly unknown[],
    more: object = {}
  ): (call: Call) => Promise<never> {
    return async call => {
      const params = toParams(takeObject(name, call))
      return (await request({ ...call, ...more, method: name, params })) as never
    }
  }

  const readHistory: AnyClient['svc_getTransactionsByAddress'] = method(
    'svc_getTransactionsByAddress',
    ({ address, limit, before }) =>
      // Without an option the documented one-element form goes out, which every host understands.
      (limit ?? before) === undefined ? [address] : [address, { limit, before }]
  )
  const readHoldings: AnyClient['svc_getTokensAndNFTs'] = method(
    'svc_getTokensAndNFTs',
    ({ address, tokenAddresses }) => (tokenAddresses ? [address, tokenAddresses] : [address])
  )
  const readSync: AnyClient['svc_getSyncStatus'] = method('svc_getSyncStatus', () => [])

  return Object.freeze({
    svc_getTransactionsByAddress: readHistory,
    svc_getTokensAndNFTs: readHoldings,
    svc_getSyncStatus: readSync,
    enhancedGetTokensAndNFTs: method(
      'enhancedGetTokensAndNFTs',
      ({ accountAddress, address, parseMetadataUri }) =>
        parseMetadataUri === undefined
          ? [accountAddress ?? address]
          : [accountAddress ?? address, { parseMetadataUri }]
    ),
    discover: (call = {}) => request({ ...call, method: 'rpc.discover', params: [] }) as Promise<never>,
    getTransactionsByAddress: readHistory,
    getTokensAndNFTs: readHoldings,
    getSyncStatus: readSync,
    iterateTransactions: call => iterateTransactions(readHistory, takeObject('iterateTransactions', call)),
    // The method decides the type of its result; see RequestResult.
    request: request as AnyClient['request'],
    batch: batch as AnyClient['batch']
  } satisfies AnyClient)
}

/** The call itself. @throws {ConfigurationError} Not an object, which only types prevent. */
function takeObject<T extends object>(name: string, call: T): T {
  if (typeof call === 'object' && call !== null) return call
  throw invalid(
    `${name} takes one object, such as ${name === 'request' ? '{ method, params }' : '{ address }'}`
  )
}

function invalid(message: string): ConfigurationError {
  return new ConfigurationError('INVALID_ARGUMENT', message)
}
