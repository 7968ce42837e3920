import type { Address } from '@chain-data/index'
import type { EvmNode } from '../../nodes/evm/nodeCall.ts'
import { createStrategyChooser } from './chooseStrategy.ts'
import type { CallResult, ContractCall } from './contractCalls.ts'
import { type StrategyName, strategyNames } from './findStrategies.ts'
import { createPatientNode } from './patientNode.ts'
import type { PinnedBlock } from './pinBlock.ts'
import { createWorker } from './workOff.ts'

/** Reads many contracts at one block of one node; nothing else sends many calls, whatever their strategy. */
export interface Multicall {
  /**
   * Asks one question about each item.
   * @param read - makes of each result what is kept of it; called once per item, in any order.
   * @param options.strategy - only this one, where the node takes it. In plain calls no contract is the caller; in the others,
   *   a contract is.
   * @returns what `read` made, in the order of the items; one hostile contract never changes another's result. Failed
   *   without being sent are the rest of a contract's calls once very many of them have failed and few have not, and
   *   what was not sent within half of the time that was left.
   * @throws {BlockLostError} the node no longer reads the pinned block.
   * @throws {NodeContradictionError} the node's answers cannot be true.
   * @throws {UpstreamError} the node failed.
   * @remarks Holds some megabytes of answers at a time, however many calls there are.
   */
  callAll<Item, T>(
    items: readonly Item[],
    callOf: (item: Item) => ContractCall,
    read: (result: CallResult, item: Item) => T,
    options?: { readonly strategy?: StrategyName }
  ): Promise<readonly T[]>
}

export interface MulticallOptions {
  readonly node: EvmNode
  readonly block: PinnedBlock
  /** Those that may be taken; all. */
  readonly strategies?: readonly StrategyName[] | undefined
  /** After this time one exchange is given up and its calls are sent in smaller ones; 3 s. */
  readonly exchangeTimeoutMs?: number | undefined
  /** `Date.now()` by which all must be done. Absent: no call is left out for want of time. */
  readonly deadlineMs?: number | undefined
}

/** A second read is for the odd honest contract; a crowd of broken ones must not use up the node's time. */
const maxSecondReads = 64
/** The same for reads that were seen to burn all they were given. */
const maxReadsOfBurnt = 8
const secondReadsPerExchange = 8
/** Failures of a contract after which it is read no further, when it has fewer answers. */
const maxFailures = 32
/** The same for second reads: each may cost ten times as much. */
const maxFailuresOfSecondReads = 4

/** A call that is sent again. */
interface Doubtful {
  readonly index: number
  readonly call: ContractCall
  readonly wasBurnt: boolean
}

/**
 * Many reads in one `eth_call` where the node allows it, see `findStrategies.ts`. What failed among others is read
 * once more by a plain call, with more gas where the call allows it.
 */
export function createMulticall(options: MulticallOptions): Multicall {
  const {
    node,
    block,
    strategies = strategyNames,
    exchangeTimeoutMs = 3_000,
    deadlineMs = Number.POSITIVE_INFINITY
  } = options
  const patient = createPatientNode(node, block, exchangeTimeoutMs)
  const chooser = createStrategyChooser(node, patient, block, strategies)
  const workOff = createWorker(patient, chooser, block)

  return {
    async callAll<Item, T>(
      items: readonly Item[],
      callOf: (item: Item) => ContractCall,
      read: (result: CallResult, item: Item) => T,
      { strategy }: { readonly strategy?: StrategyName } = {}
    ) {
      const calls = items.map(callOf)
      const kept = new Array<T>(items.length)
      const keep = (index: number, result: CallResult) => {
        kept[index] = read(result, items[index] as Item)
      }
      const doubtful: Doubtful[] = []
      let burnt = 0
      const untilMs = (Date.now() + deadlineMs) / 2
      const failures = createFailureCounter(maxFailures)
      await workOff({
        calls,
        ...(strategy && { strategy }),
        isWorthwhile: index => Date.now() < untilMs && failures.isWorthwhile(calls[index]?.to),
        settle(index, result, retryable, wasBurnt = false) {
          failures.note(calls[index]?.to, result)
          const { gas, generousGas = gas, ...call } = calls[index] as ContractCall
          const isReadAgain = retryable === 'now' || (retryable === 'later' && burnt++ < maxReadsOfBurnt)
          if (!isReadAgain || doubtful.length >= maxSecondReads) keep(index, result)
          else doubtful.push({ index, call: { ...call, gas: generousGas }, wasBurnt })
        }
      })
      const secondFailures = createFailureCounter(maxFailuresOfSecondReads)
      await workOff({
        calls: doubtful.map(({ call }) => call),
        strategy: 'plain',
        maxPerExchange: secondReadsPerExchange,
        isWorthwhile: i => Date.now() < untilMs && secondFailures.isWorthwhile(doubtful[i]?.call.to),
        settle(i, result) {
          secondFailures.note(doubtful[i]?.call.to, result)
          const { index, wasBurnt } = doubtful[i] as Doubtful
          // A proxy reverts without a reason when its implementation has burnt all gas, and a plain call does not show that.
          const isDoubtful = wasBurnt && result.kind === 'reverted'
          keep(index, isDoubtful ? { kind: 'failed' } : result)
        }
      })
      return kept
    }
  }
}

/** Counts how often contracts have failed, so that one that burns all it is given is not given more and more. */
function createFailureCounter(max: number) {
  const counts = new Map<Address | undefined, { failed: number; other: number }>()
  return {
    note(contract: Address | undefined, { kind }: CallResult): void {
      const count = counts.get(contract) ?? { failed: 0, other: 0 }
      counts.set(contract, count)
      count[kind === 'failed' ? 'failed' : 'other']++
    },
    isWorthwhile(contract: Address | undefined): boolean {
      const { failed, other } = counts.get(contract) ?? { failed: 0, other: 0 }
      return failed < max || failed <= other
    }
  }
}
