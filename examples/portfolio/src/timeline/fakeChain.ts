import { RpcError, type TransactionRecord } from '@chain-data/client/fetch'
import type { ReadRecords } from './History.ts'

/** Depth at which the model's blocks are final. */
const finalDepth = 4

/** What becomes of the transactions of a block that a reorg removes, one after the other, in turn. */
export type Fate = 'pool' | 'gone' | 'mined again'

/** A model of a chain with one account, and of the service's pages over it. For tests. */
export function createFakeChain() {
  let made = 0
  const pool: string[] = []
  const lost: string[] = []
  let blocks: string[][] = [[]]
  let mostFinal = 0
  /** Last common block of each reorg that removed a transaction from a block. */
  const removed = new Map<string, number>()

  const confirmed = () =>
    blocks.flatMap((hashes, number) => hashes.map(hash => toRecord(hash, number))).reverse()
  const pending = () => pool.map(hash => toRecord(hash)).reverse()

  return {
    send: (count: number) => void pool.push(...Array.from({ length: count }, () => `0x${++made}`)),
    /** Throws the newest transaction out of the pool. */
    drop: () => void pool.pop(),
    /** A block with what is in the pool and as many new transactions. */
    mine(count: number) {
      const hashes = Array.from({ length: count }, () => `0x${++made}`)
      blocks.push([...pool.splice(0), ...hashes])
    },
    reorg(depth: number, fates: readonly Fate[]) {
      const lowest = Math.max(blocks.length - depth, mostFinal + 1, 1)
      const undone = blocks.slice(lowest)
      blocks = blocks.slice(0, lowest)
      for (const [hash, block] of removed) removed.set(hash, Math.min(block, lowest - 1))
      let turn = 0
      const again: string[][] = undone.map(() => [])
      for (const hash of undone.flat()) {
        removed.set(hash, lowest - 1)
        const fate = fates[turn++ % fates.length]
        if (fate === 'pool') pool.push(hash)
        else if (fate === 'gone') lost.push(hash)
        else again[turn % again.length]?.push(hash)
      }
      blocks.push(...again)
    },
    /** Brings what a reorg has thrown away back into the pool. */
    returnLost: () => void pool.push(...lost.splice(0)),
    finalized() {
      mostFinal = Math.max(mostFinal, blocks.length - 1 - finalDepth)
      return mostFinal
    },
    /** The history as the service tells it. */
    history: () => [...pending(), ...confirmed()],
    read({ limit, before }: { limit: number; before?: string }): ReadRecords {
      const all = confirmed()
      const from = before === undefined ? 0 : all.findIndex(({ hash }) => hash === before) + 1
      if (before !== undefined && from === 0) throw cursorReorged(removed.get(before) ?? 0)
      const records = [...(before === undefined ? pending() : []), ...all.slice(from)]
      // As the client does where pending records fill a page.
      const length = before === undefined && pool.length >= limit ? Math.max(limit, pool.length + 1) : limit
      return { records: records.slice(0, length), isLast: records.length < limit }
    }
  }
}

function cursorReorged(blockNumber: number): RpcError {
  const lastCommonBlock = { blockNumber, blockHash: '0x' }
  return new RpcError('removed', {
    ...{ code: 'RPC', reason: 'CURSOR_REORGED', data: { lastCommonBlock } }
  })
}

function toRecord(hash: string, blockNumber?: number): TransactionRecord {
  const common = { hash, from: '0xa', to: '0xb', value: '0x1', data: '0x', gasLimit: 1, nonce: 1, type: 0 }
  if (blockNumber === undefined) return { ...common, timestamp: 1, status: 1 }
  return {
    ...{ ...common, timestamp: blockNumber, status: 3, blockNumber },
    ...{ gasSpent: '0x1', gasPrice: '0x1', fees: '0x1' }
  }
}
