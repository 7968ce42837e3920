// Checked by the compiler alone: each `@ts-expect-error` fails the build when its line compiles.

import { createClient as createFetchClient, type FetchLike } from './fetch.ts'
import {
  type ChainOptional,
  type ChainPerCall,
  type Client,
  createClient,
  type EvmHoldings,
  type HistoryCertificate,
  hasReason,
  isPending,
  RpcError,
  type SolanaHistoryCertificate,
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
    before: '0x',
    include: ['transfers', 'internal', 'operations'] as const
  })
  for (const record of history) {
    // @ts-expect-error: fees exist on confirmed records only
    record.fees
    // @ts-expect-error: fees are unknown where the receipt is
    if (!isPending(record)) record.fees.slice()
    if (!isPending(record)) record.fees?.slice()
    if (!isPending(record)) record.transfers?.[0]?.amount?.slice()
    if (!isPending(record))
      record.internal?.[0]?.kind satisfies 'call' | 'create' | 'selfdestruct' | undefined
  }
  const evm: EvmHoldings = await client.getTokensAndNFTs({ address, tokenAddresses: [address] as const })
  const solana: SolanaHoldings = await client.enhancedGetTokensAndNFTs({ address, parseMetadataUri: true })
  const status: SyncStatus = await client.getSyncStatus({ endpoint: '/solana' })
  const certificate: HistoryCertificate = await client.verifyHistory({ address })
  const parts: bigint = certificate.native.parts.received + (certificate.sent.count ?? 0n)
  const id: bigint | undefined = certificate.nfts[0]?.tokenId ?? parts
  certificate.findings[0]?.message.slice(Number(id))
  const ofWallet: SolanaHistoryCertificate = await client.verifySolanaHistory({ address })
  ofWallet.findings[0]?.gap?.older?.slice(ofWallet.covers.fromSlot)
  // @ts-expect-error: a certificate of an EVM account has no gaps
  certificate.findings[0]?.gap
  // @ts-expect-error: nothing is held against headers on Solana
  await client.verifySolanaHistory({ address, verify: 'roots' })
  const onWire: HistoryCertificate = await client.request({ method: 'svc_verifyHistory', params: [address] })
  onWire.covers.from.toFixed()
  // @ts-expect-error: there it has another form, which is verifySolanaHistory
  await client.request({ method: 'svc_verifyHistory', params: [address], endpoint: '/solana' })
  certificate.covers.from.toFixed(certificate.tokens[0]?.transfers)
  // @ts-expect-error: may be absent
  certificate.native.difference + 1n
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
  // @ts-expect-error: nothing else can be attached
  await client.getTransactionsByAddress({ address, include: ['logs'] })
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

export async function exactIntegersAreTyped(): Promise<void> {
  const digits = await createClient({
    ...credentials,
    chainId: 101,
    int64: 'string'
  }).enhancedGetTokensAndNFTs({
    accountAddress: address
  })
  digits.lamports.slice()
  digits.tokens[0]?.amount.slice()
  const big = createClient({ ...credentials, int64: 'bigint' })
  const holdings = await big.request({ method: 'enhancedGetTokensAndNFTs', params: [address], chainId: 101 })
  const sum: bigint = holdings.lamports + (holdings.tokens[0]?.amount ?? 0n)
  const [record] = await big.getTransactionsByAddress({ address, chainId: 1 })
  // Gas limit and nonce stay numbers; where one was rounded, its digits stand beside it.
  const gas: number | undefined = record?.gasLimit
  const text: string | undefined = record?.gasLimitString ?? String(sum ?? gas)
  text?.slice()
}

export async function batchIsTyped(perCall: Client, client: Client<ChainOptional, bigint>): Promise<void> {
  const [evm, solana, other] = await client.batch([
    { method: 'getTokensAndNFTs', address },
    { method: 'enhancedGetTokensAndNFTs', accountAddress: address, chainId: 101 },
    { method: 'acme_other', params: [1], endpoint: '/evm-chain' }
  ])
  if (evm.status === 'fulfilled') evm.value.native.slice()
  else evm.reason.retryable.valueOf()
  if (solana.status === 'fulfilled') BigInt.asUintN(64, solana.value.lamports)
  // @ts-expect-error: the result of an open method is unknown
  if (other.status === 'fulfilled') other.value.length
  // @ts-expect-error: three calls, three outcomes
  const [, , , fourth] = await client.batch([{ method: 'svc_getSyncStatus', params: [] }])
  // @ts-expect-error: params of another method
  await client.batch([{ method: 'svc_getTokensAndNFTs', params: [1] }])
  // @ts-expect-error: nobody names a chain
  await perCall.batch([{ method: 'svc_getTokensAndNFTs', params: [address] }])
  return fourth
}

export async function pagesAreTyped(client: Client): Promise<void> {
  for await (const page of client.iterateTransactions({ address, chainId: 1 })) page[0]?.hash.slice()
  // @ts-expect-error: nobody names a chain
  client.iterateTransactions({ address })
}

export function reasonsNarrow(error: unknown): number | undefined {
  return hasReason(error, 'CURSOR_REORGED') ? error.data.lastCommonBlock.blockNumber : undefined
}

const baseUrl = 'https://rpc.example.com'
createClient({ baseUrl, projectId: 'project', clientKey: 'key' })
createClient({ baseUrl, auth: async () => ({ Authorization: 'Bearer token' }) })
createClient({ baseUrl, auth: false })
// @ts-expect-error: one way to sign, not two
createClient({ baseUrl, projectId: 'project', clientKey: 'key', serverKey: 'key' })
// @ts-expect-error: no such option
createClient({ ...credentials, projectID: 'project' })
// @ts-expect-error: no such form
createClient({ ...credentials, int64: 'hex' })
createFetchClient({ ...credentials, fetch })
// @ts-expect-error: axios takes no fetch
createClient({ ...credentials, fetch })
const bound: FetchLike = { fetch: (url, init) => fetch(url, init) }
export const overBinding: Client = createFetchClient({ ...credentials, fetch: bound.fetch })
