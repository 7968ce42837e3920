import { StoreError, StoreLostError } from '@chain-data/index'
import { openAbortScope } from '../../platform/concurrency/deadline.ts'
import { pause } from '../../platform/concurrency/pause.ts'
import { ConfigError } from '../../platform/errors.ts'
import { ChainReader, type ChainReaderOptions, defaultRecentBlocks } from './ChainReader.ts'
import { createCommits } from './createCommits.ts'
import { FollowedIndex, type FollowedIndexOptions } from './FollowedIndex.ts'
import { BlockFailure, defaultMaxBytes } from './fetchAhead.ts'

/** Options of a reader that have a default here: 4,096 blocks and 32 MiB ahead, rounds of 2,000 blocks, 30 s of grace. */
type Tuning = 'window' | 'maxBytes' | 'roundBlocks' | 'recentBlocks' | 'lowerHeadGraceMs' | 'dev' | 'wait'

/** `signal` ends the work after the commit under way. */
export type FollowOptions = Omit<FollowedIndexOptions, Tuning> &
  Pick<ChainReaderOptions, 'isParted'> &
  Partial<Pick<ChainReaderOptions, Tuning>>

/**
 * Keeps the store equal to the node's canonical chain until `signal` ends it: writes what a {@link ChainReader} yields.
 * Nothing that the node says wrong and nothing that it does not say ends this; the board shows meanwhile why the index does
 * not move.
 *
 * @returns when `signal` is aborted.
 * @throws {StoreError} when the store cannot be written; only a new writer may help. A lost store is waited for: what this writer
 *   has open is the original.
 * @throws {ConfigError} the node of a development chain serves another chain by now.
 */
export async function follow(options: FollowOptions): Promise<void> {
  const { window = 4_096, maxBytes = defaultMaxBytes, lowerHeadGraceMs = 30_000, wait = pause } = options
  const { roundBlocks = 2_000, recentBlocks = defaultRecentBlocks, dev, store, signal } = options
  const common = { ...options, roundBlocks, recentBlocks, dev }
  const reader = new ChainReader({ ...common, window, maxBytes, lowerHeadGraceMs, wait, stored: store })
  const index = new FollowedIndex(common)
  while (!signal.aborted) {
    // A store that fails ends the reading, also in the middle of a block that takes long.
    const reading = openAbortScope([signal])
    const commits = createCommits(
      batch => index.write(batch),
      () => reading.end()
    )
    try {
      for await (const event of reader.events(reading.signal)) {
        if (event.kind === 'block') {
          await commits.add(event.block)
          continue
        }
        if (event.kind === 'fork') commits.dropFrom(event.blockNumber)
        await commits.finish()
        await index.apply(event)
      }
      await commits.finish()
    } catch (error) {
      const failure = await commits.finishAfter(error)
      if (signal.aborted) break
      if (failure instanceof StoreError && !(failure instanceof StoreLostError)) throw failure
      const cause = failure instanceof BlockFailure ? failure.cause : failure
      if (dev !== undefined && cause instanceof ConfigError) throw cause
      await wait(await index.takeFailure(failure), signal)
    } finally {
      reading.end()
    }
  }
  await index.end()
}
