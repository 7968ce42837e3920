import type { JsonRpc } from '../../../devnet/src/platform/jsonRpc.ts'
import type { ChaosNode } from './chaosNodes.ts'

/** How a node is made to forget blocks. */
export interface Undo {
  /** To be called after each new block. */
  remember(height: number): Promise<void>
  /** Takes the head down to a height, the pool empty. */
  backTo(height: number, depth: number): Promise<void>
  emptyPool(): Promise<void>
  /**
   * Replaces blocks without a lower head in between, as a real reorg does: with these transactions of theirs, each with
   * the place of its new block. Absent where the node has no call for it.
   */
  replaceInPlace?(depth: number, kept: readonly (readonly [string, number])[]): Promise<void>
}

export function createUndo({ name }: ChaosNode, rpc: JsonRpc): Undo {
  return name === 'anvil' ? undoWithReorgs(rpc) : undoWithSnapshots(name, rpc)
}

/** Snapshots taken before an `anvil_reorg` break anvil: it has calls of its own instead. */
function undoWithReorgs(rpc: JsonRpc): Undo {
  return {
    remember: async () => undefined,
    async backTo(_, depth) {
      await rpc('anvil_rollback', depth)
    },
    async emptyPool() {
      await rpc('anvil_dropAllTransactions')
    },
    async replaceInPlace(depth, kept) {
      const pairs: [unknown, number][] = []
      for (const [hash, block] of kept) pairs.push([await rpc('eth_getRawTransactionByHash', hash), block])
      await rpc('anvil_reorg', depth, pairs)
    }
  }
}

/** A revert ends its own snapshot and all later ones, and empties the pool. */
function undoWithSnapshots(name: ChaosNode['name'], rpc: JsonRpc): Undo {
  const snapshots: unknown[] = []
  const remember = async (height: number) => {
    snapshots[height] = await rpc('evm_snapshot')
  }
  return {
    remember,
    async backTo(height) {
      if ((await rpc('evm_revert', snapshots[height])) !== true) {
        throw new Error(`${name} does not go back to block ${height}`)
      }
      snapshots.length = height
      await remember(height)
    },
    // The revert that follows does it.
    emptyPool: async () => undefined
  }
}
