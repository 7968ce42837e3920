import type { Address, Hex } from '@chain-data/index'
import type { CallResult, ContractCall } from '../../src/evm/state/contractCalls.ts'
import { createMulticall, type Multicall, type MulticallOptions } from '../../src/evm/state/multicall.ts'
import { pinBlock, readLatestBlock } from '../../src/evm/state/pinBlock.ts'
import type { EvmUpstreams } from '../../src/nodes/evm/rpc.ts'

/** Somebody for whom nothing is held. */
export const nobody: Address = '0x00000000000000000000000000000000000a11ce'

/** Runs `use` with a multicall at the newest block of one upstream. */
export function useMulticall<T>(
  rpc: EvmUpstreams,
  options: Omit<MulticallOptions, 'node' | 'block'>,
  use: (multicall: Multicall) => Promise<T>
): Promise<T> {
  return rpc.onOneNode('test', async node => {
    const { pinned } = await pinBlock(node, await readLatestBlock(node), nobody)
    return use(createMulticall({ ...options, node, block: pinned }))
  })
}

/** The results, without what only some ways can see of a failure. */
export function resultsOf(
  multicall: Multicall,
  calls: readonly ContractCall[]
): Promise<readonly CallResult[]> {
  return multicall.callAll(
    calls,
    call => call,
    (result): CallResult => (result.kind === 'failed' ? { kind: 'failed' } : result)
  )
}

/** A read with the caps of a balance. */
export function callTo(to: Address, more: Partial<ContractCall> = {}): ContractCall {
  return { to, data: '0x70a08231', gas: 500_000, maxReturnBytes: 4096, ...more }
}

/** What a contract that answers this number is read as. */
export function returnedWord(value: bigint | number): CallResult {
  return { kind: 'returned', data: BigInt(value).toString(16).padStart(64, '0') }
}

/** Puts code at fresh addresses of a test node. */
export function createPlacer(rpc: EvmUpstreams, setCodeMethod: string) {
  let next = 0x1000
  return async (code: Hex): Promise<Address> => {
    const at: Address = `0x${(next++).toString(16).padStart(40, '0')}`
    await rpc.request({ method: setCodeMethod, params: [at, code] })
    return at
  }
}
