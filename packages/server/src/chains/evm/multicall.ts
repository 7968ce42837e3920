import type { Address, Hex } from '../../model/evm.ts'
import { NodeContradictionError, NodeRpcError } from '../../platform/errors.ts'
import { type ReturnData, readReturnData } from './abi.ts'
import type { NodeCall, NodeCallOptions, NodeOutcome } from './nodeCall.ts'
import { BlockLostError, hashOfBlock, type PinnedBlock } from './pinBlock.ts'
import type { EvmRpc } from './rpc.ts'

/** One read of a contract that nobody vouches for. */
export interface ContractCall {
  readonly to: Address
  readonly data: Hex
  /** All the gas it may burn; bounds time on the node and, as memory costs gas, what can be returned. */
  readonly gas: number
  /** Gas of a second attempt after a failure, for reads whose honest cost varies widely. */
  readonly generousGas?: number
  /** More than this counts as a failure. */
  readonly maxReturnBytes: number
}

export type CallResult =
  /** Empty data is what an address without code answers, or a contract whose fallback took the call. */
  | { readonly kind: 'returned'; readonly data: ReturnData }
  /** The contract itself refused. */
  | { readonly kind: 'reverted' }
  /** Out of gas, invalid instruction, too much returned: nothing can be concluded. */
  | { readonly kind: 'failed' }

/** Reads many contracts at one block; the one place that sends many calls, whatever way they travel. */
export interface Multicall {
  /**
   * @returns one result per call, in order; one hostile contract never changes another's result.
   * @throws {BlockLostError} the node no longer reads the pinned block; begin again with another one.
   * @throws {NodeUnavailableError} no upstream answered in time.
   */
  callAll(calls: readonly ContractCall[]): Promise<readonly CallResult[]>
}

export interface MulticallOptions {
  readonly rpc: EvmRpc
  readonly block: PinnedBlock
  /** Asked before each batch, for the time that is left. */
  readonly callOptions: () => NodeCallOptions
}

const maxCallsPerBatch = 100
/** Bounds what one batch may cost the node, and with it what it may answer: memory has to be paid for in gas. */
const maxGasPerBatch = 100_000_000
const parallelBatches = 2
/** A second look is for the odd honest contract; a crowd of broken ones must not use up the node's time. */
const maxSecondLooks = 64
const secondLooksPerBatch = 8

/** Plain JSON-RPC batches of gas-capped `eth_call`. */
export function createMulticall({ rpc, block, callOptions }: MulticallOptions): Multicall {
  async function callBatch(calls: readonly ContractCall[]): Promise<readonly CallResult[]> {
    const nodeCalls = calls.map(({ to, data, gas }) => ({
      method: 'eth_call',
      params: [{ to, data, gas: `0x${gas.toString(16)}` }, block.parameter]
    }))
    const [canary, ...outcomes] = await rpc.batch([canaryOf(block), ...nodeCalls], callOptions())
    // A batch is answered by one upstream. Only if it reads this block at all do its failures speak of contracts.
    if (!isCanaryAlive(canary, block)) throw new BlockLostError(block)
    return calls.map((call, i) => readResult(outcomes[i], call))
  }

  async function callAllOnce(calls: readonly ContractCall[], perBatch: number): Promise<CallResult[]> {
    const batches = splitByGas(calls, perBatch)
    const results: CallResult[] = []
    for (let i = 0; i < batches.length; i += parallelBatches) {
      const group = await Promise.all(batches.slice(i, i + parallelBatches).map(callBatch))
      for (const batchResults of group) results.push(...batchResults)
    }
    return results
  }

  return {
    async callAll(calls) {
      const results = await callAllOnce(calls, maxCallsPerBatch)
      const doubtful = calls
        .map((call, place) => ({ call, place }))
        .filter(({ call, place }) => deservesSecondLook(call, results[place]))
        .slice(0, maxSecondLooks)
      const second = await callAllOnce(
        doubtful.map(({ call }) => ({ ...call, gas: call.generousGas ?? call.gas })),
        secondLooksPerBatch
      )
      doubtful.forEach(({ place }, i) => {
        const result = second[i]
        if (result !== undefined) results[place] = result
      })
      return results
    }
  }
}

/**
 * A failure may have been the batch's (nodes limit its time and size) or honest work cut short. A revert is final,
 * unless the call has more gas in store: a contract that runs out of gas inside a call of its own reverts.
 */
function deservesSecondLook(call: ContractCall, result: CallResult | undefined): boolean {
  return result?.kind === 'failed' || (result?.kind === 'reverted' && call.generousGas !== undefined)
}

function readResult(outcome: NodeOutcome | undefined, call: ContractCall): CallResult {
  if (outcome === undefined) throw new NodeContradictionError('fewer answers than calls in a batch')
  if (!outcome.ok) {
    if (!(outcome.error instanceof NodeRpcError)) throw outcome.error
    return { kind: isRevert(outcome.error) ? 'reverted' : 'failed' }
  }
  const data = readReturnData(outcome.value)
  if (data === undefined) throw new NodeContradictionError('eth_call answered something that is not hex data')
  return data.length / 2 > call.maxReturnBytes ? { kind: 'failed' } : { kind: 'returned', data }
}

/**
 * Nodes agree on code 3 with the revert data, or on a code of their own with the data; some give neither. The text is
 * the last resort: it only decides whether a contract counts as refusing or as broken.
 */
function isRevert({ rpcCode, rpcData, message }: NodeRpcError): boolean {
  return rpcCode === 3 || (typeof rpcData === 'string' && /^0x/.test(rpcData)) || /revert/i.test(message)
}

function canaryOf(block: PinnedBlock): NodeCall {
  if (block.byHash) {
    return {
      method: 'eth_getBalance',
      params: ['0x0000000000000000000000000000000000000000', block.parameter]
    }
  }
  return { method: 'eth_getBlockByNumber', params: [block.parameter, false] }
}

function isCanaryAlive(canary: NodeOutcome | undefined, block: PinnedBlock): boolean {
  if (canary === undefined || !canary.ok) return false
  if (block.byHash) return typeof canary.value === 'string'
  return hashOfBlock(canary.value) === block.hash
}

function splitByGas(calls: readonly ContractCall[], perBatch: number): ContractCall[][] {
  const batches: ContractCall[][] = []
  let gas = 0
  for (const call of calls) {
    const last = batches.at(-1)
    gas += call.gas
    if (last === undefined || last.length >= perBatch - 1 || gas > maxGasPerBatch) {
      batches.push([call])
      gas = call.gas
    } else {
      last.push(call)
    }
  }
  return batches
}
