/**
 * The methods about Solana as a plugin for a client of `@solana/kit`.
 *
 * @packageDocumentation
 */
import type { SolanaTransactionHistory } from '@chain-data/protocol'
import type { Address } from '@solana/kit'
import type { ChainOptional, ChainPerCall } from './Chain.ts'
import type { IterateSolanaArguments } from './Client.ts'
import { connect } from './connect.ts'
import type { FetchClientOptions } from './createFetchClient.ts'
import { createFetchTransport } from './fetchTransport.ts'
import type { Methods, SolanaMethod } from './generated/calls.gen.ts'
import { solanaMethods } from './generated/methods.gen.ts'
import { iterateSolanaTransactions } from './iterateSolanaTransactions.ts'
import { needObject } from './sendCall.ts'

export type { FetchClientOptions } from './createFetchClient.ts'
export * from './surface.ts'

/**
 * The methods about Solana: addresses are of kit's type, `lamports` and `amount` of holdings are `bigint`. Amounts of a
 * history are decimal text, which `BigInt` reads.
 */
export interface ChainData<Chain extends ChainOptional = ChainOptional>
  extends Pick<Methods<Chain, bigint, Address>, SolanaMethod> {
  /** The history of a wallet and of its token accounts page by page; see `Client.iterateSolanaTransactions`. */
  readonly iterateSolanaTransactions: (
    call: IterateSolanaArguments & Chain
  ) => AsyncIterableIterator<SolanaTransactionHistory<Address>>
}

type Options = Omit<FetchClientOptions, 'int64'>

/**
 * A plugin that gives a client of kit the methods about Solana, as `client.chainData`.
 *
 * @param options - Where the service is and who asks; with a `chainId` (101 mainnet-beta, 102 testnet, 103 devnet), calls
 *   need not name their chain.
 * @throws {ConfigurationError} An option cannot work; the message names it.
 * @example
 * const client = createClient().use(chainData({ baseUrl: 'https://rpc.example.com', projectId, clientKey, chainId: 101 }))
 * const { lamports, tokens } = await client.chainData.enhancedGetTokensAndNFTs({ accountAddress })
 */
export function chainData<O extends Options>(options: O) {
  return <T extends object>(
    client: T
  ): T & { readonly chainData: ChainData<O['chainId'] extends number ? ChainOptional : ChainPerCall> } => {
    const all = { ...(options as unknown as FetchClientOptions), int64: 'bigint' } as const
    const core = connect(all, createFetchTransport(all.fetch))
    const methods: Record<string, (call: never) => unknown> = {}
    for (const method of solanaMethods) {
      // What both families answer is asked of this one.
      methods[method.name] = (call: object) => core.send(method, { endpoint: '/solana', ...call })
    }
    methods.iterateSolanaTransactions = (call: IterateSolanaArguments & ChainOptional) => {
      needObject('iterateSolanaTransactions', call)
      return iterateSolanaTransactions(methods.enhancedGetTransactionsByAddress as never, call)
    }
    return { ...client, chainData: methods as never }
  }
}
