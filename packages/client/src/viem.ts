/**
 * The methods about EVM chains for a client of viem, which also wagmi gives.
 *
 * @packageDocumentation
 */
import type { ChainOptional, ChainPerCall } from './Chain.ts'
import { callMethod, connect } from './connect.ts'
import type { FetchClientOptions } from './createFetchClient.ts'
import { createFetchTransport } from './fetchTransport.ts'
import type { EvmMethod, Methods } from './generated/calls.gen.ts'
import { evmMethods } from './generated/methods.gen.ts'

export type { FetchClientOptions } from './createFetchClient.ts'
export * from './surface.ts'

/** The chain of a viem client, as far as it is needed here. */
interface ViemChain {
  readonly id: number
}

/** The methods that a client of viem is extended with. */
export type ChainDataActions<Chain extends ChainOptional = ChainOptional> = Pick<Methods<Chain>, EvmMethod>

/**
 * Extends a client of viem with the methods about EVM chains. Calls ask about the chain of the client, unless they name
 * another.
 *
 * @param options - Where the service is and who asks; the chain is that of the client.
 * @throws {ConfigurationError} An option cannot work; the message names it.
 * @example
 * const client = createPublicClient({ chain: mainnet, transport: http() }).extend(
 *   chainDataActions({ baseUrl: 'https://rpc.example.com', projectId, clientKey })
 * )
 * const [newest] = await client.getTransactionsByAddress({ address, limit: 1 })
 * if (newest) await client.waitForTransactionReceipt({ hash: newest.hash })
 */
export function chainDataActions(options: Omit<FetchClientOptions, 'chainId' | 'int64'>) {
  return <Chain extends ViemChain | undefined>(client: {
    readonly chain?: Chain
  }): ChainDataActions<Chain extends ViemChain ? ChainOptional : ChainPerCall> => {
    const all = { ...options, chainId: client.chain?.id } as FetchClientOptions
    const core = connect(all, createFetchTransport(all.fetch))
    const actions: Partial<Record<string, (call: object) => Promise<unknown>>> = {}
    for (const method of evmMethods) actions[method.name] = call => callMethod(core, method, call)
    return actions as unknown as ChainDataActions<Chain extends ViemChain ? ChainOptional : ChainPerCall>
  }
}
