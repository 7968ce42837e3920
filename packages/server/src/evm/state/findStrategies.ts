import type { Address } from '@chain-data/index'
import type { EvmNode, NodeCall, NodeOutcome } from '../../nodes/evm/nodeCall.ts'
import { type AttemptResult, type ContractCall, encodeCalls } from './contractCalls.ts'
import { canaryOf, noHash, type PinnedBlock, requireCanary } from './pinBlock.ts'
import { type ProgramStrategy, programCall, readProgramOutcome } from './sendCalls.ts'

const programStrategies: readonly ProgramStrategy[] = ['stateOverride', 'deployless']
/**
 * Lists the forms in which many reads travel in one `eth_call`, best first: with our code at an address by a state override, with our code as
 * initcode that reverts with the results, or not at all: plain batches of one `eth_call` each.
 */
export const strategyNames = [...programStrategies, 'plain'] as const
export type StrategyName = (typeof strategyNames)[number]

/** A strategy that was seen to work at one upstream. */
export interface FoundStrategy {
  readonly name: StrategyName
  /** The most gas that one call may name there. */
  readonly gas: number
}

/** Gas to try; the highest that the node takes counts. Nodes bound the gas of a call by 10, 16.7, 30 or 50 million. */
const gasSteps = [50_000_000, 30_000_000, 16_777_216, 10_000_000, 5_000_000]
const minGas = 5_000_000

const precompile = (number: number): Address => `0x${number.toString(16).padStart(40, '0')}`
const identity = precompile(4)
const curveAddition = precompile(6)
const emptyAddress: Address = '0x0d7ab74a2cbbf8ff2a1a9e3a1f1d6a5d9c1e77b3'

/** Reads whose outcomes every chain agrees on, one of each kind that the strategies can tell apart. */
const examples: readonly { readonly call: ContractCall; readonly outcome: AttemptResult }[] = [
  {
    call: { to: identity, data: '0xc0ffee', gas: 50_000, maxReturnBytes: 3 },
    outcome: { kind: 'returned', data: 'c0ffee' }
  },
  {
    call: { to: identity, data: '0xc0ffee', gas: 50_000, maxReturnBytes: 2 },
    outcome: { kind: 'tooLong' }
  },
  {
    call: { to: emptyAddress, data: '0x', gas: 50_000, maxReturnBytes: 32 },
    outcome: { kind: 'returned', data: '' }
  },
  // No point of the curve: such a call costs all of its gas.
  {
    call: { to: curveAddition, data: `0x${'ff'.repeat(64)}`, gas: 50_000, maxReturnBytes: 64 },
    outcome: { kind: 'burnt' }
  },
  {
    call: { to: identity, data: '0x', gas: 50_000, maxReturnBytes: 0 },
    outcome: { kind: 'returned', data: '' }
  }
]
const exampleInput = encodeCalls(
  examples.map(({ call }) => call),
  4096
)

/**
 * Finds the strategies by which this node takes many reads at this block, and their gas, by reading what is known.
 * @returns best first; `plain` is always the last one.
 * @throws {BlockLostError} the node does not read the block.
 * @remarks One batch of 18 small calls.
 */
export async function findStrategies(node: EvmNode, block: PinnedBlock): Promise<readonly FoundStrategy[]> {
  const programCalls = programStrategies.flatMap(name => [
    // With an override, a node may ignore the block parameter; a block that does not exist shows it.
    programCall(name, exampleInput, minGas, { blockHash: noHash }),
    ...gasSteps.map(gas => programCall(name, exampleInput, gas, block.parameter))
  ])
  const plainCalls = gasSteps.map((gas): NodeCall => {
    const params = [{ to: identity, data: '0xc0ffee', gas: `0x${gas.toString(16)}` }, block.parameter]
    return { method: 'eth_call', params }
  })
  const [canary, ...outcomes] = await node.batch([canaryOf(block), ...programCalls, ...plainCalls])
  requireCanary(canary, block)
  const next = outcomes.values()
  const take = (count: number) => Array.from({ length: count }, () => next.next().value)

  const found: FoundStrategy[] = []
  for (const name of programStrategies) {
    const [atNoBlock] = take(1)
    const gas = gasSteps[take(gasSteps.length).findIndex(isAsExpected)]
    const readsHash = readProgramOutcome(atNoBlock, examples.length) === undefined
    if (gas !== undefined && (readsHash || !block.byHash)) found.push({ name, gas })
  }
  const plainGas =
    gasSteps[take(gasSteps.length).findIndex(outcome => outcome?.ok && outcome.value === '0xc0ffee')]
  return [...found, { name: 'plain', gas: plainGas ?? minGas }]
}

function isAsExpected(outcome: NodeOutcome | undefined): boolean {
  const results = readProgramOutcome(outcome, examples.length)
  return examples.every(({ outcome: expected }, i) => {
    const result = results?.[i]
    if (result?.kind !== expected?.kind) return false
    return result?.kind !== 'returned' || (expected?.kind === 'returned' && result.data === expected.data)
  })
}
