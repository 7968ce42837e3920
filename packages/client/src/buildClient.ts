import type { EndpointPath } from '@chain-data/protocol'
import type {
  ChainOptional,
  Client,
  EnhancedTokensAndNFTsArguments,
  Settled,
  TokensAndNFTsArguments,
  TransactionsArguments,
  VerifyHistoryArguments
} from './Client.ts'
import type { CallOptions, ClientOptions } from './ClientOptions.ts'
import { type ChainDataClientError, need } from './errors.ts'
import { iterateTransactions } from './iterateTransactions.ts'
import { readNumber, readOptions } from './readOptions.ts'
import { sendCalls, type WireCall } from './sendCalls.ts'
import type { Transport } from './transport.ts'

/** Most calls of one POST; the document's limit `batchRequests`. */
export const largestBatch = 100

const endpoints: readonly EndpointPath[] = ['/evm-chain', '/solana']

interface MethodCall extends CallOptions, ChainOptional {
  readonly method: string
  readonly params: readonly unknown[]
  readonly endpoint?: EndpointPath | undefined
}

/** A client without its types: overloads and generics of the entries give them back. */
export type AnyClient = Client<ChainOptional, never>

/** Every method of the document by its name there: how the one object of a call becomes its params. */
export const toParams = {
  // Without an option the documented one-element form goes out, which every host understands.
  svc_getTransactionsByAddress: ({ address, limit, before, include }: TransactionsArguments) =>
    (limit ?? before ?? include) === undefined ? [address] : [address, { limit, before, include }],
  svc_getTokensAndNFTs: ({ address, tokenAddresses }: TokensAndNFTsArguments) =>
    tokenAddresses ? [address, tokenAddresses] : [address],
  svc_getSyncStatus: () => [],
  svc_verifyHistory: ({ address, verify }: VerifyHistoryArguments) =>
    verify ? [address, { verify }] : [address],
  enhancedGetTokensAndNFTs: ({
    address,
    accountAddress = address,
    parseMetadataUri
  }: EnhancedTokensAndNFTsArguments) =>
    parseMetadataUri === undefined ? [accountAddress] : [accountAddress, { parseMetadataUri }],
  'rpc.discover': () => []
}

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
    needObject('request', call)
    const { method, params } = call
    const known = Object.hasOwn(toParams, method)
    // Of the document, one method is served by the second endpoint alone.
    const { endpoint = known && endpoints[+(method === 'enhancedGetTokensAndNFTs')] } = call
    need(
      endpoints.includes(endpoint as EndpointPath),
      `${method} needs an endpoint: ${endpoints.join(' or ')}`,
      'ENDPOINT_MISSING'
    )
    const chainId = readNumber('chainId', 0, settings.chainId, call)
    need(chainId !== undefined || method === 'rpc.discover', `${method} needs a chainId`, 'CHAIN_ID_MISSING')
    // Only names of the document carry the stand-in for the host's prefix.
    const wireName = known ? method.replace(/^svc_/, () => settings.methodPrefix) : method
    const id = ++lastId
    try {
      return {
        id,
        method,
        endpoint: endpoint as EndpointPath,
        body: JSON.stringify({ jsonrpc: '2.0', id, method: wireName, chainId, params })
      }
    } catch {
      need(false, `${method}: params cannot be written as JSON`, invalid)
    }
  }

  async function request(call: MethodCall): Promise<unknown> {
    const written = write(call)
    await sendCalls(settings, transport, [written], call, false)
    if (written.error) throw written.error
    return written.value
  }

  async function batch(calls: readonly MethodCall[], options: CallOptions = {}): Promise<Settled<unknown>[]> {
    need(Array.isArray(calls), 'batch takes a list', invalid)
    const entries = calls.map((call): Partial<WireCall> => {
      try {
        return write(call)
      } catch (error) {
        // Writing throws nothing else.
        return { error: error as ChainDataClientError }
      }
    })
    const posts: Promise<void>[] = []
    for (const path of endpoints) {
      const there = entries.filter(({ endpoint }) => endpoint === path) as WireCall[]
      while (there.length) {
        posts.push(sendCalls(settings, transport, there.splice(0, largestBatch), options, true))
      }
    }
    await Promise.all(posts)
    return entries.map(({ error, value }) =>
      error ? { status: 'rejected', reason: error } : { status: 'fulfilled', value }
    )
  }

  const client: Record<string, unknown> = { request, batch }
  for (const [method, paramsOf] of Object.entries(toParams)) {
    const name = method.replace(/^(svc_|rpc\.)/, '')
    client[name] = async (call: never) => {
      if (name !== 'discover') needObject(name, call)
      return request({ ...(call as object), method, params: paramsOf(call) })
    }
  }
  client.iterateTransactions = (call: never) => {
    needObject('iterateTransactions', call)
    return iterateTransactions((client as unknown as AnyClient).getTransactionsByAddress, call)
  }
  return Object.freeze(client) as unknown as AnyClient
}

const invalid = 'INVALID_ARGUMENT'

/** @throws {ConfigurationError} Not an object, which only types prevent. */
function needObject(name: string, call: unknown): void {
  need(call && typeof call === 'object', `${name} takes one object`, invalid)
}
