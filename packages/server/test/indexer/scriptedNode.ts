import type { Hash, IndexedBlock } from '@chain-data/index'
import { encodeBlock } from '@chain-data/index/record'
import { buildChain, hashOf, people, type TransactionPlan } from '@chain-data/index/test'
import type { EvmSource } from '../../src/evm/blocks/evmSource.ts'
import { NodeContradictionError } from '../../src/platform/errors.ts'
import type { PoolSource } from '../../src/server/indexer/poolWatch.ts'

/** A node as an indexer sees it, whose chain the test changes at will, also in the middle of a call. */
export interface ScriptedNode extends EvmSource, PoolSource {
  /** The canonical chain from block 0 on. */
  readonly chain: readonly IndexedBlock[]
  /** Every question so far: `head`, `block 7`, `blockRef 7`... */
  readonly calls: string[]
  /** Named as final; absent: the node names none. */
  finalized: number | undefined
  chainId: bigint
  genesisHash: Hash
  /** Answers as if the newest block were this one; absent: the chain's own. */
  shownHead: number | undefined
  /** Runs before each answer; may change the chain or throw. */
  before: (call: string) => void
  /** Keeps blocks up to `kept`, then mines `count` of `fork`, each with one transaction of its own. */
  reorg(kept: number, count: number, fork: string): void
  /** The same, with transactions as planned. */
  replace(kept: number, plans: readonly (readonly TransactionPlan[])[], fork: string): void
}

const parties = [people[3] ?? '0x', people[7] ?? '0x'] as const

/** @param length - blocks at the start. */
export function createScriptedNode(length: number): ScriptedNode {
  const blocks: IndexedBlock[] = []
  const calls: string[] = []

  /** The question is noted, then the script has its turn, then the answer is made of what is there now. */
  const asked = async (call: string) => {
    calls.push(call)
    node.before(call)
  }
  const newest = () => blocks[Math.min(node.shownHead ?? Number.POSITIVE_INFINITY, blocks.length - 1)]

  const node: ScriptedNode = {
    chain: blocks,
    calls,
    finalized: undefined,
    chainId: 31_337n,
    genesisHash: hashOf('genesis'),
    shownHead: undefined,
    before: () => {},
    reorg(kept, count, fork) {
      const numbers = Array.from({ length: count }, (_, i) => kept + 1 + i)
      node.replace(
        kept,
        numbers.map(number => [{ name: `${number} of ${fork}`, parties }]),
        fork
      )
    },
    replace(kept, plans, fork) {
      blocks.length = kept + 1
      const parent = blocks.at(-1)?.ref
      blocks.push(...buildChain(plans, { fork, ...(parent === undefined ? {} : { parent }) }))
    },
    async identity() {
      await asked('identity')
      return { chainId: node.chainId, genesisHash: node.genesisHash }
    },
    async head() {
      await asked('head')
      const head = newest()
      if (head === undefined) throw new NodeContradictionError('the node has no latest block')
      const { finalized } = node
      return { head: head.ref, ...(finalized === undefined ? {} : { finalized }) }
    },
    async block(number) {
      await asked(`block ${number}`)
      const block = blocks[number]
      if (block === undefined) throw new NodeContradictionError(`block ${number}: the node does not have it`)
      return encodeBlock(block)
    },
    async blockRef(number) {
      await asked(`blockRef ${number}`)
      return blocks[number]?.ref
    },
    async knowsBlock(hash) {
      await asked('knowsBlock')
      return blocks.some(({ ref }) => ref.hash === hash)
    },
    oldestBlock: async () => 0,
    async pool() {
      await asked('pool')
      return {
        present: [],
        seenAtSeconds: 1,
        headAfter: newest()!.ref,
        complete: true,
        leftOut: 0
      }
    }
  }
  node.reorg(-1, length, 'a')
  return node
}
