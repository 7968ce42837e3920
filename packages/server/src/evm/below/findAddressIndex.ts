import type { EvmRpc } from '../../nodes/evm/rpc.ts'
import { NodeRpcError } from '../../platform/errors.ts'
import { otsMethod } from './createOtsSearch.ts'
import { traceMethod } from './createTraceSearch.ts'

/** In which way a node tells the transactions of an address; `none`: in none. */
export type AddressIndex = 'ots' | 'trace' | 'none'

const nobody = '0x0000000000000000000000000000000000000001'

/**
 * Asks for as little as possible in each way.
 *
 * Where contracts that pay count, `trace_filter` is the better one: pages of some nodes leave out whom a destroyed contract
 * pays. Else a page costs less, wherever the transactions are.
 *
 * @throws {NodeUnavailableError} no upstream answers, so that nobody can tell.
 */
export async function findAddressIndex(
  rpc: Pick<EvmRpc, 'request'>,
  withCalls: boolean,
  signal: AbortSignal
): Promise<AddressIndex> {
  const isThere = async (method: string, params: readonly unknown[]) => {
    try {
      await rpc.request({ method, params }, { signal })
      return true
    } catch (error) {
      // Whoever refuses so little answers no question of ours, in whatever words.
      if (error instanceof NodeRpcError) return false
      throw error
    }
  }
  const filter = { fromBlock: '0x1', toBlock: '0x1', fromAddress: [nobody] }
  const ways: readonly (readonly [AddressIndex, () => Promise<boolean>])[] = [
    ['ots', () => isThere(otsMethod, [nobody, 1, 1])],
    ['trace', () => isThere(traceMethod, [filter])]
  ]
  for (const [index, isOffered] of withCalls ? ways.toReversed() : ways) {
    if (await isOffered()) return index
  }
  return 'none'
}
