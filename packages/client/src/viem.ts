/**
 * The methods about EVM chains for a client of viem, which also wagmi gives.
 *
 * @packageDocumentation
 */
import type { ChainOptional, ChainPerCall } from './Chain.ts'
import { connect } from './connect.ts'
import type { FetchClientOptions } from './createFetchClient.ts'
import { createFetchTransport } from './fetchTransport.ts'
import type { EvmMethod, Methods } from './generated/calls.gen.ts'
import { evmMethods } from './generated/methods.gen.ts'
import { type AddressEvent, type WatchArguments, watchAddresses } from './watch/watchAddresses.ts'

export type { FetchClientOptions } from './createFetchClient.ts'
export * from './surface.ts'
export type { AddressEvent, WatchArguments } from './watch/watchAddresses.ts'

/** The chain of a viem client, as far as it is needed here. */
interface ViemChain {
  readonly id: number
}

type Options = Omit<FetchClientOptions, 'chainId' | 'int64'>
type ChainOf<Chain> = Chain extends ViemChain ? ChainOptional : ChainPerCall

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
export function chainDataActions(options: Options) {
  return <Chain extends ViemChain | undefined>(client: {
    readonly chain?: Chain
  }): ChainDataActions<ChainOf<Chain>> => {
    const core = connectAs(client, options)
    const actions: Partial<Record<string, (call: object) => Promise<unknown>>> = {}
    for (const method of evmMethods) actions[method.name] = call => core.send(method, call)
    return actions as unknown as ChainDataActions<ChainOf<Chain>>
  }
}

/** What a client of viem is extended with by {@link chainDataWatchActions}. */
// Not an interface: viem takes only what has an index signature.
export type ChainDataWatchActions<Chain extends ChainOptional = ChainOptional> = {
  /**
   * Watches the histories of 1 to 100 addresses: every change, in order and exactly once, reorgs included. A connection that
   * breaks is resumed after the last event.
   *
   * @returns Ends the watching; no function is called after that.
   * @remarks Throws nothing: what is wrong with the arguments goes to `onError`, too. An extension: not every host has it.
   */
  readonly watchAddresses: (call: ViemWatchArguments & Chain) => () => void
}

/** Arguments of {@link ChainDataWatchActions.watchAddresses}, besides the chain. */
export interface ViemWatchArguments extends Omit<WatchArguments, 'signal'> {
  /** Gets every event, also `synced`. The next one waits until it has returned. */
  readonly onEvent: (event: AddressEvent) => void | Promise<void>
  /**
   * Gets what ended the watching: an error that no other attempt would change, such as `CURSOR_EXPIRED`, or what `onEvent`
   * threw. Nothing comes after it.
   */
  readonly onError: (error: Error) => void
}

/**
 * Extends a client of viem with the stream of an account's changes. Apart from {@link chainDataActions}, so that bundles
 * without it have none of its code.
 *
 * @param options - As of {@link chainDataActions}.
 * @throws {ConfigurationError} An option cannot work; the message names it.
 * @example
 * const client = createPublicClient({ chain: mainnet, transport: http() }).extend(
 *   chainDataWatchActions({ baseUrl: 'https://rpc.example.com', projectId, clientKey })
 * )
 * const unwatch = client.watchAddresses({ addresses: [address], onEvent: console.log, onError: console.error })
 */
export function chainDataWatchActions(options: Options) {
  return <Chain extends ViemChain | undefined>(client: {
    readonly chain?: Chain
  }): ChainDataWatchActions<ChainOf<Chain>> => {
    const core = connectAs(client, options)
    return {
      watchAddresses({ onEvent, onError, ...call }) {
        const ending = new AbortController()
        const { signal } = ending
        const watch = async () => {
          for await (const event of watchAddresses(core, { ...call, signal } as never)) {
            // Several events may have come at once.
            if (signal.aborted) return
            await onEvent(event)
          }
        }
        watch().catch(error => signal.aborted || onError(error))
        return () => ending.abort()
      }
    }
  }
}

function connectAs({ chain }: { readonly chain?: ViemChain | undefined }, options: Options) {
  const all = { ...options, chainId: chain?.id } as FetchClientOptions
  return connect(all, createFetchTransport(all.fetch))
}
