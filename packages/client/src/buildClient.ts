import { type EndpointPath, type MethodName, methodEndpoints } from '@chain-data/protocol'
import type { ChainOptional, Client, Settled } from './Client.ts'
import type { CallOptions, ClientOptions } from './ClientOptions.ts'
import { type ConfigurationError, configurationError } from './errors.ts'
import { iterateTransactions } from './iterateTransactions.ts'
import { checkNumber, readOptions } from './readOptions.ts'
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
    const { method, params, chainId = settings.chainId, endpoint: given } = takeObject('request', call)
    const known = Object.hasOwn(methodEndpoints, method)
    const endpoint = given ?? (known ? methodEndpoints[method as MethodName] : undefined)
    if (endpoint !== '/evm-chain' && endpoint !== '/solana') {
      throw configurationError('ENDPOINT_MISSING', `${method} needs an endpoint: /evm-chain or /solana`)
    }
    if (chainId !== undefined) checkNumber('chainId', chainId)
    else if (method !== 'rpc.discover') {
      throw configurationError('CHAIN_ID_MISSING', `${method} needs a chainId`)
    }
    // Only names of the document carry the stand-in for the host's prefix.
    const wireName = known ? method.replace(/^svc_/, () => settings.methodPrefix) : method
    const id = ++lastId
    try {
      const body = JSON.stringify({ jsonrpc: '2.0', id, method: wireName, chainId, params })
      return { id, method, wireName, endpoint, body }
    } catch {
      throw invalid(`${method}: params cannot be written as JSON`)
    }
  }

  async function request(call: MethodCall): Promise<unknown> {
    const written = write(call)
    await sendCalls(settings, transport, [written], call, false)
    if (written.outcome?.status === 'fulfilled') return written.outcome.value
    throw written.outcome?.reason
  }

  async function batch(calls: readonly MethodCall[], options: CallOptions = {}): Promise<Settled<unknown>[]> {
    if (!Array.isArray(calls)) throw invalid('batch takes a list')
    const written: WireCall[] = []
    const entries = calls.map((call: MethodCall): { outcome?: Settled<unknown> } => {
      try {
        const entry = write(call)
        written.push(entry)
        return entry
      } catch (reason) {
        // Writing throws nothing else.
        return { outcome: { status: 'rejected', reason: reason as ConfigurationError } }
      }
    })
    const posts = ['/evm-chain', '/solana'].flatMap(path => {
      const there = written.filter(({ endpoint }) => endpoint === path)
      return there.flatMap((_, place) =>
        place % largestBatch ? [] : [there.slice(place, place + largestBatch)]
      )
    })
    await Promise.all(posts.map(post => sendCalls(settings, transport, post, options, true)))
    return entries.map(({ outcome }) => outcome as Settled<unknown>)
  }

  /** A function of the client that turns its one object into params. */
  function method<Call extends object>(
    name: string,
    toParams: (call: Call) => readonly unknown[]
  ): (call: Call) => Promise<never> {
    return async call => {
      const params = toParams(takeObject(name, call))
      return (await request({ ...call, method: name, params })) as never
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
  if (typeof call === 'object' && call) return call
  throw invalid(`${name} takes one object`)
}

function invalid(message: string): ConfigurationError {
  return configurationError('INVALID_ARGUMENT', message)
}
