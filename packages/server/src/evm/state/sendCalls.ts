import type { Address, Hex } from '@chain-data/index'
import type { EvmNode, NodeCall, NodeOutcome } from '../../nodes/evm/nodeCall.ts'
import { UpstreamError } from '../../nodes/upstreams/upstreamError.ts'
import { NodeContradictionError, NodeRpcError } from '../../platform/errors.ts'
import { readReturnData } from './abi.ts'
import {
  type AttemptResult,
  type ContractCall,
  encodeCalls,
  programBytes,
  readResults
} from './contractCalls.ts'
import { multicallProgram } from './multicallProgram.gen.ts'
import { canaryOf, type PinnedBlock, requireCanary } from './pinBlock.ts'

/** The strategies by which our code runs on the node. */
export type ProgramStrategy = 'stateOverride' | 'deployless'

/** Nobody's address: the last 20 bytes of keccak256("chain-data multicall"). */
const programAddress: Address = '0xf6dda6d1c936edce369a86270b2ef347d8ac94b2'
/** The gas of the call itself, and of a byte of it at most (EIP-7623), before our code has run. */
const callGas = 60_000
const gasPerInputByte = 40

/**
 * @param input - hex digits without `0x`.
 * @param parameter - names the block.
 */
export function programCall(
  strategy: ProgramStrategy,
  input: string,
  gas: number,
  parameter: PinnedBlock['parameter']
): NodeCall {
  const gasHex: Hex = `0x${gas.toString(16)}`
  if (strategy === 'deployless') {
    return { method: 'eth_call', params: [{ data: multicallProgram + input, gas: gasHex }, parameter] }
  }
  return {
    method: 'eth_call',
    params: [
      { to: programAddress, data: `0x${input}`, gas: gasHex },
      parameter,
      { [programAddress]: { code: multicallProgram } }
    ]
  }
}

/**
 * Reads what the node made of a {@link programCall}.
 * @returns `undefined` when our code did not write it.
 * @throws {NodeContradictionError}
 */
export function readProgramOutcome(
  outcome: NodeOutcome | undefined,
  calls: number
): readonly AttemptResult[] | undefined {
  if (outcome === undefined) return undefined
  if (outcome.ok) return readHex(outcome.value, calls)
  return outcome.error instanceof NodeRpcError ? readErrorData(outcome.error.rpcData, calls, 3) : undefined
}

interface ProgramLimits {
  /** For the reads themselves. */
  readonly workGas: number
  /** The most that the call may name. */
  readonly maxGas: number
  readonly maxResultBytes: number
}

/**
 * Many reads in one `eth_call`.
 * @returns `undefined` when the node did not take it: too large, or not by this strategy (any more).
 * @throws {BlockLostError}
 */
export async function sendProgram(
  node: EvmNode,
  strategy: ProgramStrategy,
  block: PinnedBlock,
  calls: readonly ContractCall[],
  limits: ProgramLimits
): Promise<readonly AttemptResult[] | undefined> {
  const input = encodeCalls(calls, limits.maxResultBytes)
  const inputGas = callGas + (input.length / 2 + programBytes) * gasPerInputByte
  const call = programCall(
    strategy,
    input,
    Math.min(limits.maxGas, limits.workGas + inputGas),
    block.parameter
  )
  try {
    const outcomes = await node.batch(block.byHash ? [call] : [canaryOf(block), call])
    if (!block.byHash) requireCanary(outcomes[0], block)
    return readProgramOutcome(outcomes.at(-1), calls.length)
  } catch (error) {
    if (error instanceof UpstreamError && isAboutSize(error)) return undefined
    throw error
  }
}

function isAboutSize({ fault, httpStatus }: UpstreamError): boolean {
  return fault === 'tooLarge' || (fault === 'refused' && [400, 413, 414, 422].includes(httpStatus ?? 0))
}

/** Nodes give the data of a revert as it is, after words, or inside an object that they name as they like. */
function readErrorData(data: unknown, calls: number, depth: number): readonly AttemptResult[] | undefined {
  if (typeof data === 'string') return readHex(data, calls)
  if (typeof data !== 'object' || data === null || depth === 0) return undefined
  for (const value of Object.values(data)) {
    const found = readErrorData(value, calls, depth - 1)
    if (found !== undefined) return found
  }
  return undefined
}

function readHex(value: unknown, calls: number): readonly AttemptResult[] | undefined {
  const digits = typeof value === 'string' ? /(?:^|\s)0x([0-9a-f]+)$/i.exec(value)?.[1] : undefined
  return digits === undefined ? undefined : readResults(digits.toLowerCase(), calls)
}

/**
 * A plain JSON-RPC batch of gas-capped `eth_call`.
 * @throws {BlockLostError}
 */
export async function sendPlain(
  node: EvmNode,
  block: PinnedBlock,
  calls: readonly ContractCall[]
): Promise<readonly AttemptResult[]> {
  const nodeCalls = calls.map(({ to, data, gas }) => ({
    method: 'eth_call',
    params: [{ to, data, gas: `0x${gas.toString(16)}` }, block.parameter]
  }))
  const [canary, ...outcomes] = await node.batch([canaryOf(block), ...nodeCalls])
  requireCanary(canary, block)
  return calls.map((call, i) => readResult(outcomes[i], call))
}

function readResult(outcome: NodeOutcome | undefined, call: ContractCall): AttemptResult {
  if (outcome === undefined) throw new NodeContradictionError('fewer answers than calls in a batch')
  if (!outcome.ok) {
    if (!(outcome.error instanceof NodeRpcError)) throw outcome.error
    return { kind: isRevert(outcome.error) ? 'reverted' : 'failed' }
  }
  const data = readReturnData(outcome.value)
  if (data === undefined) throw new NodeContradictionError('eth_call answered something that is not hex data')
  return data.length / 2 > call.maxReturnBytes ? { kind: 'tooLong' } : { kind: 'returned', data }
}

/**
 * Nodes agree on code 3 with the revert data, or on a code of their own with the data, which some also give, empty, for
 * calls that ran out of gas. The text is the last resort: it only decides whether a contract counts as refusing or as broken.
 */
function isRevert({ rpcCode, rpcData, message }: NodeRpcError): boolean {
  const hasData = typeof rpcData === 'string' && /^0x/.test(rpcData)
  if (hasData && rpcData.length > 2) return true
  if (/out ?of ?gas|invalid (opcode|instruction)/i.test(message)) return false
  return rpcCode === 3 || hasData || /revert/i.test(message)
}
