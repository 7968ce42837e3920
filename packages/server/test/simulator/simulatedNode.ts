import type { IndexedBlock } from '@chain-data/index'
import { type BlockRows, encodeBlock } from '@chain-data/index/record'
import type { Random } from '../../../devnet/src/platform/createRandom.ts'
import { pause } from '../../src/platform/concurrency/pause.ts'
import { NodeContradictionError, NodeRpcError, NodeUnavailableError } from '../../src/platform/errors.ts'
import type { FollowOptions } from '../../src/server/indexer/follow.ts'
import { type ChainState, genesisHash, presentIn, type SimulatedChain } from './simulatedChain.ts'

/**
 * How the node answers: truly and now; as the chain was some time ago, always or now and then, as several nodes behind one
 * URL do; with parts that contradict each other; with errors; or not at all.
 */
export const nodeMoods = ['honest', 'lagging', 'torn', 'contradicting', 'refusing', 'silent'] as const
type NodeMood = (typeof nodeMoods)[number]

/** A node over a simulated chain, as the indexer sees it. Its answers take virtual time. */
export interface SimulatedNode {
  readonly source: FollowOptions['source']
  mood: NodeMood
  /** Age of the state that a node that lags shows. */
  lagMs: number
  /** Longest time of an answer. */
  latencyMs: number
  /** Age of the oldest state that it has shown since a moment, as the moment when that was the newest one. */
  oldestShownMs(sinceMs: number): number
}

export const chainId = 31_337
const silenceMs = 3_000

export function createSimulatedNode(
  chain: SimulatedChain,
  { random, nowMs, note }: { readonly random: Random; nowMs(): number; note(event: string): void }
): SimulatedNode {
  const encoded = new Map<IndexedBlock, BlockRows>()
  const shown: { readonly atMs: number; readonly ofMs: number }[] = []

  function stateBefore(ageMs: number): ChainState {
    const until = nowMs() - ageMs
    return chain.states.findLast(({ sinceMs }) => sinceMs <= until) ?? (chain.states[0] as ChainState)
  }

  /** Age of the state that an answer shows, once the node gives one. */
  async function ageOf(question: string, signal: AbortSignal | undefined): Promise<number> {
    if (node.mood === 'silent') {
      await pause(silenceMs, signal)
      signal?.throwIfAborted()
      note(`${question}: silence`)
      throw new NodeUnavailableError('the node does not answer')
    }
    await pause(random.below(node.latencyMs + 1), signal)
    signal?.throwIfAborted()
    const fails = random.below(2) === 0
    if (node.mood === 'contradicting' && fails) {
      note(`${question}: contradiction`)
      throw new NodeContradictionError('the node contradicts itself')
    }
    if (node.mood === 'refusing' && fails) {
      note(`${question}: refused`)
      throw new NodeRpcError('the node refuses', -32_000, undefined)
    }
    const isOld = node.mood === 'lagging' || (node.mood === 'torn' && fails)
    return isOld ? node.lagMs : 0
  }

  function show(question: string, ageMs: number): ChainState {
    const state = stateBefore(ageMs)
    shown.push({ atMs: nowMs(), ofMs: nowMs() - ageMs })
    note(`${question}: of ${state.blocks.length - 1}${ageMs > 0 ? ', old' : ''}`)
    return state
  }

  async function asked(question: string, signal: AbortSignal | undefined): Promise<ChainState> {
    return show(question, await ageOf(question, signal))
  }

  const node: SimulatedNode = {
    mood: 'honest',
    lagMs: 0,
    latencyMs: 30,
    oldestShownMs: sinceMs =>
      Math.min(...shown.filter(({ atMs }) => atMs >= sinceMs).map(({ ofMs }) => ofMs)),
    source: {
      async identity(signal) {
        await asked('identity', signal)
        return { chainId: BigInt(chainId), genesisHash }
      },
      async head(signal) {
        const { blocks, finalized } = await asked('head', signal)
        const head = blocks.at(-1)?.ref
        if (head === undefined) throw new NodeContradictionError('the node has no latest block')
        return { head, finalized }
      },
      async block(number, signal) {
        const { blocks } = await asked(`block ${number}`, signal)
        const block = blocks[number]
        if (block === undefined) {
          throw new NodeContradictionError(`block ${number}: the node does not have it`)
        }
        const rows = encoded.get(block) ?? encodeBlock(block)
        encoded.set(block, rows)
        return rows
      },
      async blockRef(number, signal) {
        const { blocks } = await asked(`blockRef ${number}`, signal)
        return blocks[number]?.ref
      },
      async knowsBlock(hash, signal) {
        const { blocks } = await asked('knowsBlock', signal)
        return blocks.some(({ ref }) => ref.hash === hash)
      },
      async oldestBlock() {
        return 0
      },
      async pool(signal) {
        // All of one read comes from one upstream.
        const ageMs = await ageOf('pool', signal)
        const { pool } = show('pool', ageMs)
        await pause(random.below(node.latencyMs + 1), signal)
        signal?.throwIfAborted()
        const { blocks } = show('head after the pool', ageMs)
        return {
          present: pool.map(presentIn),
          seenAtSeconds: Math.floor(Date.now() / 1000),
          headAfter: blocks.at(-1)!.ref,
          complete: true,
          leftOut: 0
        }
      }
    }
  }
  return node
}
