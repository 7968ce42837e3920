import { type EndpointPath, type MethodName, methodFacts, wireName } from '@chain-data/protocol'
import type { ChainOptional, Client } from './Client.ts'
import type { CallOptions, ClientOptions } from './ClientOptions.ts'
import { ConfigurationError } from './errors.ts'
import { checkChainId, readOptions } from './readOptions.ts'
import { sendCall } from './sendCall.ts'
import type { Transport } from './transport.ts'

interface MethodCall extends CallOptions, ChainOptional {
  readonly method: string
  readonly params: readonly unknown[]
  readonly endpoint?: EndpointPath | undefined
}

/**
 * The client over any transport. Its settings live in this closure, so that printing the client shows functions.
 *
 * @throws {ConfigurationError} An option cannot work.
 */
export function buildClient(options: ClientOptions, transport: Transport): Client<ChainOptional> {
  const settings = readOptions(options)
  let lastId = 0

  async function send(call: MethodCall): Promise<unknown> {
    const { method, params, signal, timeoutMs } = checkCall('request', call)
    const known = isMethodName(method)
    lastId += 1
    return sendCall(settings, transport, {
      id: lastId,
      method: known ? wireName(method, settings.methodPrefix) : method,
      endpoint: chooseEndpoint(call),
      chainId: chooseChain(call, known ? methodFacts[method].needsChain : true),
      params,
      signal,
      timeoutMs
    })
  }

  function chooseChain(
    { method, chainId = settings.chainId }: MethodCall,
    needed: boolean
  ): number | undefined {
    if (chainId !== undefined) return checkChainId(chainId)
    if (!needed) return undefined
    throw new ConfigurationError(
      'CHAIN_ID_MISSING',
      `${method} needs a chainId: give one with the call, or to createClient as the default`
    )
  }

  const client: Client<ChainOptional> = {
    getTransactionsByAddress: async call => {
      const { address, limit, before, ...rest } = checkCall('getTransactionsByAddress', call)
      // Without an option the documented one-element form goes out, which every host understands.
      const isWhole = limit === undefined && before === undefined
      return client.request({
        ...rest,
        method: 'svc_getTransactionsByAddress',
        params: isWhole ? [address] : [address, present({ limit, before })]
      })
    },
    getTokensAndNFTs: async call => {
      const { address, tokenAddresses, ...rest } = checkCall('getTokensAndNFTs', call)
      return client.request({
        ...rest,
        method: 'svc_getTokensAndNFTs',
        params: tokenAddresses === undefined ? [address] : [address, tokenAddresses]
      })
    },
    enhancedGetTokensAndNFTs: async call => {
      const { address, parseMetadataUri, ...rest } = checkCall('enhancedGetTokensAndNFTs', call)
      return client.request({
        ...rest,
        method: 'enhancedGetTokensAndNFTs',
        params: parseMetadataUri === undefined ? [address] : [address, { parseMetadataUri }]
      })
    },
    getSyncStatus: async call => client.request({ ...call, method: 'svc_getSyncStatus', params: [] }),
    // The method decides the type of its result; see RequestResult.
    request: call => send(call) as Promise<never>
  }
  return Object.freeze(client)
}

/** The call itself. @throws {ConfigurationError} Not an object, which only types prevent. */
function checkCall<T extends object>(name: string, call: T): T {
  if (typeof call === 'object' && call !== null) return call
  throw new ConfigurationError(
    'INVALID_ARGUMENT',
    `${name} takes one object, such as ${name === 'request' ? '{ method, params }' : '{ address }'}`
  )
}

function isMethodName(method: string): method is MethodName {
  return Object.hasOwn(methodFacts, method)
}

function chooseEndpoint({ method, endpoint }: MethodCall): EndpointPath {
  if (endpoint !== undefined) {
    if (endpoint === '/evm-chain' || endpoint === '/solana') return endpoint
    throw new ConfigurationError('INVALID_ARGUMENT', `${method}: endpoint must be '/evm-chain' or '/solana'`)
  }
  const [first] = isMethodName(method) ? methodFacts[method].endpoints : []
  if (first !== undefined) return first
  throw new ConfigurationError('ENDPOINT_MISSING', `${method} is not in the document: name its endpoint`)
}

type Present<T> = { [K in keyof T]?: Exclude<T[K], undefined> }

function present<T extends object>(members: T): Present<T> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as Present<T>
}
