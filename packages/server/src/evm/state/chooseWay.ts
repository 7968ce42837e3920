import { performance } from 'node:perf_hooks'
import type { EvmNode, NodeCall } from '../../nodes/evm/nodeCall.ts'
import { NodeRpcError } from '../../platform/errors.ts'
import { findWays } from './findWays.ts'
import type { PatientNode } from './patientNode.ts'
import { canaryOf, type PinnedBlock } from './pinBlock.ts'
import { createWayMemory, type Findings, type FoundWay, type WayName } from './wayMemory.ts'

/** How one round of exchanges travels. */
export interface ChosenWay extends FoundWay {
  /** Gas for the reads of one exchange: what the node works off in a second, within bounds. */
  readonly workGas: number
  /** Exchanges at the same time. */
  readonly lanes: number
}

export interface WayChooser {
  /** @param only - this way, where it works; else the best. */
  choose(only?: WayName): Promise<ChosenWay>
  /**
   * Looks again whether a way works that was refused.
   * @returns false when it does not; from now on another one is chosen.
   */
  stillWorks(name: WayName): Promise<boolean>
}

const mostLanes = 4
const quickGasPerSecond = 30_000_000
const leastWorkGas = 1_000_000
const mostWorkGas = 50_000_000
/** How often a way is looked at again, for one snapshot. */
const maxLooks = 8
/** What is known of a node that did not show it in time. */
const onlyPlain: Findings = { ways: [{ name: 'plain', gas: 5_000_000 }], gasPerSecond: 0 }

/** @param allowed - ways that may be chosen; `plain` always may. */
export function createWayChooser(
  node: EvmNode,
  patient: PatientNode,
  block: PinnedBlock,
  allowed: readonly WayName[]
): WayChooser {
  const naming = block.byHash ? 'byHash' : 'byNumber'
  const memory = node.memory(createWayMemory)
  let looksLeft = maxLooks
  let unseen: Findings | undefined

  async function look(): Promise<Findings> {
    const known = memory.recall(naming) ?? unseen
    if (known !== undefined) return known
    const ways = await patient.ask(own => findWays(own, block))
    const speed = await patient.ask(own => measureSpeed(own, block))
    if (ways === undefined || speed === undefined) {
      unseen = onlyPlain
      return unseen
    }
    const findings = { ways: ways.value, gasPerSecond: speed.value }
    memory.remember(naming, findings)
    return findings
  }

  return {
    async choose(only) {
      const { ways, gasPerSecond } = await look()
      const fits = ({ name }: FoundWay) => (only === undefined ? allowed.includes(name) : name === only)
      const way = ways.find(fits) ?? ways.at(-1)
      if (way === undefined) throw new Error('no way to read is known; expected plain calls at least')
      const workGas = Math.round(Math.min(mostWorkGas, Math.max(leastWorkGas, gasPerSecond)))
      return { ...way, workGas, lanes: gasPerSecond < quickGasPerSecond ? 1 : mostLanes }
    },
    async stillWorks(name) {
      if (looksLeft-- <= 0) return true
      const ways = await patient.ask(own => findWays(own, block))
      if (ways?.value.some(way => way.name === name)) return true
      memory.lost(naming, name)
      return false
    }
  }
}

const burntGas = 500_000
const tries = 2
/** Where nothing can be told from a clock. */
const fastest = 500_000_000

/**
 * How much gas this node works off in a second, at its worst: an endless loop with little gas, less the time of the way
 * there. From a million on nodes written in JavaScript to several hundred million.
 */
async function measureSpeed(node: EvmNode, block: PinnedBlock): Promise<number> {
  // JUMPDEST, PUSH1 0, JUMP: initcode, so that nothing has to be there.
  const loop: NodeCall = {
    method: 'eth_call',
    params: [{ data: '0x5b600056', gas: `0x${burntGas.toString(16)}` }, block.parameter]
  }
  const wayMs = await shortest(node, canaryOf(block))
  const burnMs = (await shortest(node, loop)) - wayMs
  return burnMs <= 0 ? fastest : Math.min(fastest, (burntGas / burnMs) * 1000)
}

async function shortest(node: EvmNode, call: NodeCall): Promise<number> {
  let ms = Number.POSITIVE_INFINITY
  for (let i = 0; i < tries; i++) {
    const startedMs = performance.now()
    await node.request(call).catch(error => {
      if (!(error instanceof NodeRpcError)) throw error
    })
    ms = Math.min(ms, performance.now() - startedMs)
  }
  return ms
}
