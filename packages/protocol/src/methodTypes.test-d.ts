// Checked by the compiler alone: each `@ts-expect-error` fails the build when its line compiles.
import type {
  ConfirmedTransaction,
  EvmHoldings,
  MethodHandlers,
  MethodParams,
  MethodResult,
  SolanaHoldings,
  TransactionRecord
} from './index.ts'
import { createErrorObject, isPending } from './index.ts'

interface Context {
  chainId: number
}

declare const complete: MethodHandlers<Context>
declare const record: TransactionRecord
declare const wide: ConfirmedTransaction<number | bigint>
declare const holdings: SolanaHoldings

export const handlers: MethodHandlers<Context> = { ...complete }

const { svc_getTokensAndNFTs: _left, ...others } = complete
// @ts-expect-error: a method is missing
export const incomplete: MethodHandlers<Context> = others

export const exactWithBigint: MethodHandlers<Context> = {
  ...complete,
  enhancedGetTokensAndNFTs: async () => ({ ...holdings, lamports: 18446744073709551615n })
}

export const wrongResult: MethodHandlers<Context> = {
  ...complete,
  // @ts-expect-error: the balance is a decimal string
  svc_getTokensAndNFTs: async () => ({ native: 1n, tokens: [], nfts: [] })
}

export const strayStream: MethodHandlers<Context> = {
  ...complete,
  // @ts-expect-error: a stream is no result unless the server says so
  svc_getTokensAndNFTs: async () => 'stream'
}

export const streaming: MethodHandlers<Context, AsyncIterable<string>> = {
  ...complete,
  async svc_getTransactionsByAddress([address, page], { chainId }) {
    const text: string = `${address} ${page?.limit ?? ''} ${page?.before ?? ''} ${chainId}`
    return (async function* () {
      yield text
    })()
  }
}

// @ts-expect-error: whoever reads an answer gets numbers
export const narrow: ConfirmedTransaction = wide

// @ts-expect-error: fees exist on confirmed records only
record.fees
export const narrowed: string | undefined = isPending(record) ? record.hash : record.fees

export const params: MethodParams<'enhancedGetTokensAndNFTs'>[] = [
  ['address'],
  ['address', { parseMetadataUri: true }],
  [{ accountAddress: 'address' }],
  [{ accountAddress: 'address', parseMetadataUri: true }],
  [{ accountAddress: 'address' }, { parseMetadataUri: true }],
  [{ accountAddress: 'address' }, { options: { parseMetadataUri: true } }]
]

// @ts-expect-error: the account is needed
export const none: MethodParams<'enhancedGetTokensAndNFTs'> = []

export const result: EvmHoldings = {} as MethodResult<'svc_getTokensAndNFTs'>

// @ts-expect-error: INVALID_PARAMS names the path
createErrorObject('INVALID_PARAMS', { extraMessage: 'Wrong.' })
