// Checked by the compiler alone: each `@ts-expect-error` fails the build when its line compiles.
import {
  type Client,
  type ChainOptional,
  type ChainPerCall,
  createClient,
  type EvmHoldings,
  isPending,
  RpcError,
  type SolanaHoldings,
  type SyncStatus,
  type TransactionHistory
} from './index.ts'

const credentials = { baseUrl: 'https://rpc.example.com', projectId: 'project', serverKey: 'key' }
const address = '0x425249Cf0F2f91f488E24cF7B1AA3186748f7516'

/** Never called: only its types matter. */
export async function chainIsNeededWithoutDefault(): Promise<void> {
  const client: Client<ChainPerCall> = createClient(credentials)
  await client.getTransactionsByAddress({ address, chainId: 1 })
  // @ts-expect-error: neither the client nor the call names a chain
  await client.getTransactionsByAddress({ address })
  // @ts-expect-error: neither the client nor the call names a chain
  await client.getTokensAndNFTs({ address })
  // @ts-expect-error: neither the client nor the call names a chain
  await client.enhancedGetTokensAndNFTs({ address })
  // @ts-expect-error: neither the client nor the call names a chain
  await client.getSyncStatus({})
  // @ts-expect-error: neither the client nor the call names a chain
  await client.request({ method: 'svc_getTokensAndNFTs', params: [address] })
  // @ts-expect-error: an open method needs a chain too
  await client.request({ method: 'other_method', params: [], endpoint: '/solana' })
  await client.request({ method: 'rpc.discover', params: [] })
}

export async function chainIsOptionalWithDefault(): Promise<void> {
  const client: Client<ChainOptional> = createClient({ ...credentials, chainId: 1 })
  await client.getTransactionsByAddress({ address })
  await client.getTransactionsByAddress({ address, chainId: 137 })
  await client.request({ method: 'svc_getTokensAndNFTs', params: [address] })
}

declare const perhaps: number | undefined
// A default that may be missing is no default.
export const undecided: Client<ChainPerCall> = createClient({ ...credentials, chainId: perhaps })
// @ts-expect-error: a client without a default cannot stand in for one with
export const promoted: Client<ChainOptional> = undecided
// The other way round nothing is lost.
export const demoted: Client<ChainPerCall> = createClient({ ...credentials, chainId: 1 })

export async function resultsAreTyped(client: Client<ChainOptional>): Promise<void> {
  const history: TransactionHistory = await client.getTransactionsByAddress({
    address,
    limit: 1,
    before: '0x'
  })
  for (const record of history) {
    // @ts-expect-error: fees exist on confirmed records only
    record.fees
    if (!isPending(record)) record.fees.slice()
  }
  const evm: EvmHoldings = await client.getTokensAndNFTs({ address, tokenAddresses: [address] as const })
  const solana: SolanaHoldings = await client.enhancedGetTokensAndNFTs({ address, parseMetadataUri: true })
  const status: SyncStatus = await client.getSyncStatus({ endpoint: '/solana' })
  // @ts-expect-error: the balance is text
  evm.native.toFixed()
  solana.lamports.toFixed()
  // @ts-expect-error: may be absent
  status.head.toFixed()
}

export async function requestIsTyped(client: Client<ChainOptional>): Promise<void> {
  const evm: EvmHoldings = await client.request({
    method: 'svc_getTokensAndNFTs',
    params: [address, [address]]
  })
  const form = await client.request({
    method: 'enhancedGetTokensAndNFTs',
    params: [{ accountAddress: address }, { options: { parseMetadataUri: true } }]
  })
  form.lamports.toFixed()
  // @ts-expect-error: params of another method
  await client.request({ method: 'svc_getTokensAndNFTs', params: [{ accountAddress: address }] })
  // @ts-expect-error: params are needed
  await client.request({ method: 'svc_getTokensAndNFTs' })
  // @ts-expect-error: nobody knows where this method lives
  await client.request({ method: 'other_method', params: [] })
  const open = await client.request({ method: 'other_method', params: [1], endpoint: '/evm-chain' })
  // @ts-expect-error: its result is unknown
  open.length
  const named = await client.request<'other_method', string>({
    method: 'other_method',
    params: [],
    endpoint: '/evm-chain'
  })
  named.slice()
  evm.native.slice()
}

export async function unknownArgumentsAreRefused(client: Client<ChainOptional>): Promise<void> {
  // @ts-expect-error: spelled like this in no method
  await client.getTransactionsByAddress({ address, cursor: '0x' })
  // @ts-expect-error: one object, not positions
  await client.getTransactionsByAddress(address)
  await client.getTransactionsByAddress({ address, signal: new AbortController().signal, timeoutMs: 10 })
}

export function errorsNarrow(error: unknown): number | undefined {
  if (error instanceof RpcError) return error.rpcCode + error.status
  return undefined
}

// @ts-expect-error: the key is needed
createClient({ baseUrl: 'https://rpc.example.com', projectId: 'project' })
