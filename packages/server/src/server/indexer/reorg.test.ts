import type { BlockRef } from '@chain-data/index'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ConfigError, NodeContradictionError } from '../../platform/errors.ts'
import { silentLogger } from '../../platform/logger.ts'
import { findReorg } from './reorg.ts'

const refOf = (number: number, branch: string): BlockRef => ({ number, hash: `0x${branch}${number}` })

/** An index of blocks `lowest` to `head` that shares everything up to `shared` with the node. */
function situation({ lowest, shared, head }: { lowest: number; shared: number; head: number }) {
  let confirmed = 0
  const asked: number[] = []
  const options = {
    stored: {
      state: async () => ({
        ...{ head: refOf(head, 'a'), indexedFrom: lowest },
        ...{ backfilled: true, settled: true, degraded: false }
      }),
      blockRef: async (number: number) => (number < lowest || number > head ? undefined : refOf(number, 'a'))
    },
    source: {
      blockRef: async (number: number) => {
        asked.push(number)
        return refOf(number, number <= shared ? 'a' : 'b')
      }
    },
    suspect: head,
    logger: silentLogger,
    signal: new AbortController().signal,
    confirmIdentity: async () => void confirmed++
  }
  return { options, asked, confirmed: () => confirmed }
}

describe('findReorg', () => {
  it('finds the newest shared block, asking for about twice the logarithm of the depth', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.nat(1_000_000),
        fc.nat(100_000),
        fc.integer({ min: 1, max: 100_000 }),
        async (lowest, kept, depth) => {
          const { options, asked, confirmed } = situation({
            lowest,
            shared: lowest + kept,
            head: lowest + kept + depth
          })
          const ancestor = refOf(lowest + kept, 'a')
          expect(await findReorg(options)).toEqual({ ancestor, blockNumber: lowest + kept, depth })
          expect(confirmed()).toBe(1)
          expect(asked.length).toBeLessThanOrEqual(2 * Math.ceil(Math.log2(depth + 1)) + 2)
        }
      )
    )
  })

  it('names no ancestor when not even the first block is shared, once the node is known to serve the same chain', async () => {
    const { options, confirmed } = situation({ lowest: 10, shared: 9, head: 50 })
    expect(await findReorg(options)).toEqual({ blockNumber: 9, depth: 41 })
    expect(confirmed()).toBe(1)
  })

  it('is no reorg when the node turns out to serve another chain', async () => {
    // With or without a common past: some chains share their first blocks.
    for (const shared of [9, 30]) {
      const { options } = situation({ lowest: 10, shared, head: 50 })
      const confirmIdentity = () => Promise.reject(new ConfigError('another chain'))
      await expect(findReorg({ ...options, confirmIdentity })).rejects.toThrow(ConfigError)
    }
  })

  it("finds nothing when the suspected block is the node's after all", async () => {
    const { options, confirmed } = situation({ lowest: 10, shared: 60, head: 50 })
    expect(await findReorg(options)).toBeUndefined()
    expect(await findReorg({ ...options, suspect: 55 })).toBeUndefined()
    expect(confirmed()).toBe(0)
  })

  it('goes below a suspected block that is not the head', async () => {
    const { options } = situation({ lowest: 10, shared: 30, head: 50 })
    expect(await findReorg({ ...options, suspect: 40 })).toMatchObject({ blockNumber: 30, depth: 20 })
  })

  it('finds nothing while the node does not have blocks that it must have', async () => {
    const { options, confirmed } = situation({ lowest: 10, shared: 30, head: 50 })
    const source = { blockRef: async () => undefined }
    await expect(findReorg({ ...options, source })).rejects.toThrow(NodeContradictionError)
    expect(confirmed()).toBe(0)
  })
})
