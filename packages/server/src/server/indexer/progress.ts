import type { BlockHeader } from '../../index/record/encodeBlock.ts'
import type { Logger } from '../../platform/logger.ts'

/** Tells the log how a long catch-up is going: rates over the last interval, and the time left at this rate. */
export interface Progress {
  record(blocks: readonly Pick<BlockHeader, 'ref' | 'transactionCount'>[], head: number): void
}

/** @param options.intervalMs - at most one line in this time; nothing is written while the index keeps up. */
export function createProgress({
  logger,
  intervalMs = 3_000,
  now = () => performance.now()
}: {
  readonly logger: Logger
  readonly intervalMs?: number
  readonly now?: () => number
}): Progress {
  let since = now()
  let blockCount = 0
  let transactionCount = 0
  return {
    record(blocks, head) {
      blockCount += blocks.length
      transactionCount += blocks.reduce((sum, block) => sum + block.transactionCount, 0)
      const elapsedMs = now() - since
      const indexedTo = blocks.at(-1)?.ref.number
      if (elapsedMs < intervalMs || indexedTo === undefined) return
      const left = head - indexedTo
      if (left > 0) {
        const blocksPerSecond = (blockCount * 1000) / elapsedMs
        logger.info('indexing', {
          indexedTo,
          head,
          blocksPerSecond: Math.round(blocksPerSecond * 10) / 10,
          transactionsPerSecond: Math.round((transactionCount * 1000) / elapsedMs),
          etaSeconds: Math.ceil(left / blocksPerSecond)
        })
      }
      since = now()
      blockCount = 0
      transactionCount = 0
    }
  }
}
