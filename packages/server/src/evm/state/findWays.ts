import type { Address } from '../../model/evm.ts'
import type { EvmNode, NodeCall, NodeOutcome } from '../../nodes/evm/nodeCall.ts'
import { type AttemptResult, type ContractCall, encodeCalls } from './contractCalls.ts'
import { canaryOf, noHash, type PinnedBlock, requireCanary } from './pinBlock.ts'
import { type ProgramWay, programCall, readProgramOutcome } from './sendCalls.ts'
import type { FoundWay } from './wayMemory.ts'

const programWays: readonly ProgramWay[] = ['stateOverride', 'deployless']
/** Of each way the highest that is taken counts. Nodes bound the gas of a call by 10, 16.7, 30 or 50 million. */
const gasSteps = [50_000_000, 30_000_000, 16_777_216, 10_000_000, 5_000_000]
const leastGas = 5_000_000

const precompile = (place: number): Address => `0x${place.toString(16).padStart(40, '0')}`
const identity = precompile(4)
const curveAddition = precompile(6)
const nobody: Address = '0x0d7ab74a2cbbf8ff2a1a9e3a1f1d6a5d9c1e77b3'

/** Reads whose outcomes every chain agrees on, one of each kind that the ways can tell apart. */
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
    call: { to: nobody, data: '0x', gas: 50_000, maxReturnBytes: 32 },
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
 * Finds out in which ways this node takes many reads at this block, and with how much gas, by reading what is known.
 * @returns best first; `plain` is always the last one.
 * @throws {BlockLostError} the node does not read the block.
 * @remarks One batch of 18 small calls.
 */
export async function findWays(node: EvmNode, block: PinnedBlock): Promise<readonly FoundWay[]> {
  const programCalls = programWays.flatMap(way => [
    // Beside an override a node may forget what the block parameter says; a block that does not exist shows it.
    programCall(way, exampleInput, leastGas, { blockHash: noHash }),
    ...gasSteps.map(gas => programCall(way, exampleInput, gas, block.parameter))
  ])
  const plainCalls = gasSteps.map((gas): NodeCall => {
    const params = [{ to: identity, data: '0xc0ffee', gas: `0x${gas.toString(16)}` }, block.parameter]
    return { method: 'eth_call', params }
  })
  const [canary, ...outcomes] = await node.batch([canaryOf(block), ...programCalls, ...plainCalls])
  requireCanary(canary, block)
  const next = outcomes.values()
  const take = (count: number) => Array.from({ length: count }, () => next.next().value)

  const found: FoundWay[] = []
  for (const name of programWays) {
    const [atNoBlock] = take(1)
    const gas = gasSteps[take(gasSteps.length).findIndex(isAsExpected)]
    const looksAtHash = readProgramOutcome(atNoBlock, examples.length) === undefined
    if (gas !== undefined && (looksAtHash || !block.byHash)) found.push({ name, gas })
  }
  const plainGas =
    gasSteps[take(gasSteps.length).findIndex(outcome => outcome?.ok && outcome.value === '0xc0ffee')]
  return [...found, { name: 'plain', gas: plainGas ?? leastGas }]
}

function isAsExpected(outcome: NodeOutcome | undefined): boolean {
  const results = readProgramOutcome(outcome, examples.length)
  return examples.every(({ outcome: expected }, i) => {
    const result = results?.[i]
    if (result?.kind !== expected?.kind) return false
    return result?.kind !== 'returned' || (expected?.kind === 'returned' && result.data === expected.data)
  })
}
