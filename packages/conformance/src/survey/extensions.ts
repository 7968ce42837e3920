import type { EndpointPath, MethodName } from '@chain-data/protocol'
import { methodFacts } from '@chain-data/protocol'
import type { Answer, Service } from '../wire/createService.ts'

/** The parts beyond the service document, by the names that reports use. */
export const extensions = [
  'pages',
  'include',
  'batches',
  'string ids',
  'chainId in the URL',
  'more parameter forms',
  'coverage header',
  'CORS',
  'svc_getSyncStatus',
  'svc_verifyHistory',
  'svc_verifySolanaHistory',
  'svc_watchAddresses',
  'enhancedGetTransactionsByAddress',
  'rpc.discover'
] as const

export type Extension = (typeof extensions)[number]

/** A chain of each endpoint that has one. */
export type Chains = Readonly<Partial<Record<EndpointPath, number>>>

/** Nobody's: whatever it holds, the forms of answers can be seen on it. */
export const someEvmAddress = '0x0000000000000000000000000000000000000000'
/** The system program. */
export const someSolanaAddress = '11111111111111111111111111111111'

/** The params of extensions that need some. */
const smallestParams: { readonly [M in MethodName]?: readonly unknown[] } = {
  svc_verifyHistory: [someEvmAddress],
  svc_verifySolanaHistory: [someSolanaAddress],
  enhancedGetTransactionsByAddress: [someSolanaAddress, { limit: 1 }]
}

/** The reasons by which a service says that it does not know a part of the document. */
const declining = new Set(['METHOD_NOT_FOUND', 'INVALID_PARAMS', 'INVALID_REQUEST'])

/**
 * Whether the service has an extension: one call that uses nothing else is not declined.
 *
 * @returns `undefined` where no chain is served on which it could be asked for.
 */
export async function isOffered(
  extension: Extension,
  service: Service,
  chains: Chains
): Promise<boolean | undefined> {
  const evm = chains['/evm-chain']
  const solana = chains['/solana']
  const history = (options: object) =>
    evm === undefined
      ? undefined
      : service.call({
          endpoint: '/evm-chain',
          method: 'svc_getTransactionsByAddress',
          chainId: evm,
          params: [someEvmAddress, options]
        })
  switch (extension) {
    case 'pages':
      return accepted(history({ limit: 1 }))
    case 'include':
      return accepted(history({ limit: 1, include: ['transfers'] }))
    case 'more parameter forms':
      return solana === undefined
        ? undefined
        : accepted(
            service.call({
              endpoint: '/solana',
              method: 'enhancedGetTokensAndNFTs',
              chainId: solana,
              params: [{ accountAddress: someSolanaAddress, parseMetadataUri: false }]
            })
          )
    case 'coverage header':
      return hasCoverage(history({ limit: 1 }))
    case 'CORS':
      return allowsPages(service)
    case 'batches':
    case 'string ids':
    case 'chainId in the URL':
      return reachesMethod(extension, service, chains)
    case 'svc_watchAddresses':
      return evm === undefined ? undefined : knowsStreams(service, evm)
    default:
      return accepted(callOf(extension, service, chains))
  }
}

function callOf(method: MethodName, service: Service, chains: Chains): Promise<Answer> | undefined {
  const endpoint = methodFacts[method].endpoints.find(path => chains[path] !== undefined)
  const chainId = endpoint === undefined ? undefined : chains[endpoint]
  if (endpoint === undefined || chainId === undefined) return undefined
  return service.call({ endpoint, method, chainId, params: smallestParams[method] ?? [] })
}

async function accepted(call: Promise<Answer> | undefined): Promise<boolean | undefined> {
  if (call === undefined) return undefined
  const { body } = await call
  return !declining.has(reasonOf(body) ?? '')
}

/** Whoever has the method complains of the empty list, before anything is said of streams. */
async function knowsStreams(service: Service, chainId: number): Promise<boolean> {
  const { body } = await service.call({
    endpoint: '/evm-chain',
    method: 'svc_watchAddresses',
    chainId,
    params: [[]]
  })
  return reasonOf(body) === 'INVALID_PARAMS'
}

async function hasCoverage(call: Promise<Answer> | undefined): Promise<boolean | undefined> {
  return call === undefined ? undefined : (await call).exchange.received.headers[coverageHeader] !== undefined
}

/** Where answers say what they cover. */
export const coverageHeader = 'x-chain-data-coverage'

/** What a browser asks before a page may call. */
export const preflight = {
  verb: 'OPTIONS',
  headers: {
    authorization: '',
    'content-type': '',
    origin: 'https://dapp.example',
    'access-control-request-method': 'POST',
    'access-control-request-headers': 'authorization,content-type'
  }
}

async function allowsPages(service: Service): Promise<boolean> {
  const { received } = await service.exchange(preflight)
  return received.headers['access-control-allow-origin'] !== undefined
}

/** Empty params: whoever gets as far as the method complains of these. */
async function reachesMethod(extension: Extension, service: Service, chains: Chains) {
  const endpoint = chains['/evm-chain'] === undefined ? '/solana' : '/evm-chain'
  const chainId = chains[endpoint]
  if (chainId === undefined) return undefined
  const method =
    endpoint === '/solana'
      ? 'enhancedGetTokensAndNFTs'
      : `${service.methodPrefix}${'svc_getTokensAndNFTs'.slice('svc_'.length)}`
  const inUrl = extension === 'chainId in the URL'
  const call = {
    jsonrpc: '2.0',
    id: extension === 'string ids' ? 'a' : 1,
    method,
    ...(inUrl ? {} : { chainId }),
    params: []
  }
  const { received } = await service.exchange({
    target: inUrl ? `${endpoint}?chainId=${chainId}` : endpoint,
    body: JSON.stringify(extension === 'batches' ? [call] : call)
  })
  const [answer] = [readJson(received.text)].flat() as {
    error?: { data?: { reason?: string; path?: string } }
  }[]
  const { reason, path } = answer?.error?.data ?? {}
  return reason === 'INVALID_PARAMS' && path === '/params'
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** `error.data.reason` of an answer, or that of a batch that was refused as a whole. */
export function reasonOf(body: unknown): string | undefined {
  const { error } = (body ?? {}) as { error?: { data?: { reason?: string } } }
  return error?.data?.reason
}
