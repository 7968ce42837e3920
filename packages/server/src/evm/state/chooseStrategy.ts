import type { EvmNode } from '../../nodes/evm/nodeCall.ts'
import { createBatchSize } from '../../nodes/upstreams/limits.ts'
import type { Clock } from '../../platform/clock.ts'
import { type FoundStrategy, findStrategies, type StrategyName, strategyNames } from './findStrategies.ts'
import type { PatientNode } from './patientNode.ts'
import type { PinnedBlock } from './pinBlock.ts'

/** The form in which a block is named; a strategy may work with one and not with the other. */
type BlockNaming = 'byHash' | 'byNumber'

/** A node may be upgraded: a strategy that is missing is tried again after this time. */
const forgetAfterMs = 10 * 60_000
/** A strategy that has worked before is more likely to be missing for a moment only, or on one of several balanced nodes. */
const forgetLostAfterMs = 5_000
const wholeSize = 16
const maxCalls = 512
const maxResultBytes = 1024 * 1024

/** Remembers what has been found out about one upstream. */
function createStrategyMemory(clock: Clock) {
  const known = new Map<
    BlockNaming,
    { readonly strategies: readonly FoundStrategy[]; readonly untilMs: number }
  >()
  const size = createBatchSize(wholeSize, clock)
  const share = (max: number) => (max * size.current()) / wholeSize
  return {
    /** @returns best first, `plain` last; `undefined` when it is time to find out (again). */
    recall(naming: BlockNaming): readonly FoundStrategy[] | undefined {
      const entry = known.get(naming)
      return entry !== undefined && clock.now() < entry.untilMs ? entry.strategies : undefined
    },
    remember(naming: BlockNaming, strategies: readonly FoundStrategy[]): void {
      const isWhole = strategies.length === strategyNames.length
      const untilMs = isWhole ? Number.POSITIVE_INFINITY : clock.now() + forgetAfterMs
      known.set(naming, { strategies, untilMs })
    },
    /** Leaves out a strategy that has stopped working, until the next check, which is soon. */
    lost(naming: BlockNaming, name: StrategyName): void {
      const strategies = known.get(naming)?.strategies.filter(strategy => strategy.name !== name)
      if (strategies) known.set(naming, { strategies, untilMs: clock.now() + forgetLostAfterMs })
    },
    /** How large one exchange may be: it shrinks when the node refuses one, and grows again in time. */
    size: {
      ...size,
      /** Reads in one `eth_call`. */
      calls: () => share(maxCalls),
      /** Bytes of results of one `eth_call`. */
      resultBytes: () => share(maxResultBytes)
    }
  }
}

/** Chooses how many reads travel in one call, for one snapshot. */
export type StrategyChooser = ReturnType<typeof createStrategyChooser>

/** Maximum of checks of a strategy, for one snapshot. */
const maxChecks = 8
/** The strategies of a node that did not show them in time. */
const onlyPlain: readonly FoundStrategy[] = [{ name: 'plain', gas: 5_000_000 }]

/** @param allowed - strategies that may be chosen; `plain` always may. */
export function createStrategyChooser(
  node: EvmNode,
  patient: PatientNode,
  block: PinnedBlock,
  allowed: readonly StrategyName[]
) {
  const naming = block.byHash ? 'byHash' : 'byNumber'
  const memory = node.memory(createStrategyMemory)
  const find = () => patient.ask(own => findStrategies(own, block))
  let checksLeft = maxChecks
  let unseen: readonly FoundStrategy[] | undefined

  return {
    size: memory.size,
    /** @param only - this strategy, where it works; else the best. */
    async choose(only?: StrategyName): Promise<FoundStrategy> {
      let strategies = memory.recall(naming) ?? unseen
      if (strategies === undefined) {
        const found = await find()
        if (found !== undefined) memory.remember(naming, found.value)
        else unseen = onlyPlain
        strategies = found?.value ?? onlyPlain
      }
      const fits = ({ name }: FoundStrategy) => (only === undefined ? allowed.includes(name) : name === only)
      const strategy = strategies.find(fits) ?? strategies.at(-1)
      if (strategy === undefined) throw new Error('no strategy is known; expected plain calls at least')
      return strategy
    },
    /**
     * Checks again whether a strategy works that was refused.
     * @returns false when it does not; from now on another one is chosen.
     */
    async stillWorks(name: StrategyName): Promise<boolean> {
      if (checksLeft-- <= 0) return true
      const found = await find()
      if (found?.value.some(strategy => strategy.name === name)) return true
      memory.lost(naming, name)
      return false
    }
  }
}
