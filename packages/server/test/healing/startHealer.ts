import type { Damage, IndexedBlock, StoreWriter } from '@chain-data/index'
import { encodeBlock } from '@chain-data/index/record'
import { eventually } from '@chain-data/index/test'
import { silentLogger } from '../../src/platform/logger.ts'
import { Healer } from '../../src/server/indexer/Healer.ts'
import { createStatusBoard, type StatusBoard } from '../../src/server/indexer/status.ts'

/** A healer that heals an index until it is stopped. */
export interface RunningHealer {
  readonly board: StatusBoard
  /** Blocks that were fetched, in that order. */
  readonly fetched: readonly number[]
  /** Waits until something was healed and nothing is damaged: 10 seconds at most, or longer on a slow machine. */
  healAll(): Promise<void>
  stop(): Promise<void>
}

/**
 * @param blocks - what nodes give, from block 0 on.
 * @param damages - reported at once.
 * @param onFetch - called before a block is given.
 */
export function startHealer(
  writer: StoreWriter,
  blocks: readonly IndexedBlock[],
  damages: readonly Damage[] = [],
  onFetch: (number: number) => Promise<void> = async () => {}
): RunningHealer {
  const chainId = 31_337
  const board = createStatusBoard({
    ...{ chainId, phase: 'following', indexedFrom: 0 },
    ...{ backfilled: true, degraded: false, poolCovered: false }
  })
  const fetched: number[] = []
  const healer = new Healer({
    ...{ chainId, board, logger: silentLogger },
    async fetchBlock(number) {
      fetched.push(number)
      await onFetch(number)
      return encodeBlock(blocks[number]!)
    }
  })
  for (const damage of damages) healer.report(damage)
  const stopped = new AbortController()
  const healing = healer.healInto(writer, stopped.signal, () => {})
  return {
    ...{ board, fetched },
    async healAll() {
      const isDone = () => {
        const { damaged, healed = 0 } = board.read().integrity ?? {}
        return damaged === 0 && healed > 0
      }
      await eventually('nothing is damaged', isDone, 10_000)
    },
    async stop() {
      stopped.abort()
      await healing
    }
  }
}
