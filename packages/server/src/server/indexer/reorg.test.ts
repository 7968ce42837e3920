import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { StoreWriter } from '../../index/port/writer.ts'
import type { BlockRef } from '../../model/evm.ts'
import { ConfigError, NodeContradictionError } from '../../platform/errors.ts'
import { silentLogger } from '../../platform/logger.ts'
import type { ChainSource } from './chainSource.ts'
import { resolveReorg } from './reorg.ts'

const refOf = (number: number, branch: string): BlockRef => ({ number, hash: `0x${branch}${number}` })

/** An index of blocks `lowest` to `head` that shares everything up to `shared` with the node. Writes are noted down. */
function situation({ lowest, shared, head }: { lowest: number; shared: number; head: number }) {
  const writes: string[] = []
  const asked: number[] = []
  const nobody = () => {
    throw new Error('not to be called')
  }
  const store: StoreWriter = {
    state: async () => ({
      ...{ head: refOf(head, 'a'), indexedFrom: lowest },
      ...{ backfilled: true, settled: true, degraded: false }
    }),
    blockRef: async number => (number < lowest || number > head ? undefined : refOf(number, 'a')),
    rollbackTo: async ancestor => void writes.push(`rollbackTo ${ancestor.number}`),
    rollbackAll: async () => void writes.push('rollbackAll'),
    commitBlocks: nobody,
    markBackfilled: nobody,
    markSettled: nobody,
    markFinal: nobody,
    updatePool: nobody,
    report: nobody,
    close: nobody
  }
  const source: ChainSource = {
    blockRef: async number => {
      asked.push(number)
      return refOf(number, number <= shared ? 'a' : 'b')
    },
    identity: nobody,
    head: nobody,
    block: nobody,
    knowsBlock: nobody,
    pool: nobody
  }
  const options = {
    source,
    store,
    suspect: head,
    logger: silentLogger,
    signal: new AbortController().signal,
    confirmIdentity: async () => void writes.push('confirmIdentity')
  }
  return { options, writes, asked }
}

describe('resolveReorg', () => {
  it('goes back to the newest shared block, asking for about twice the logarithm of the depth', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.nat(1_000_000),
        fc.nat(100_000),
        fc.integer({ min: 1, max: 100_000 }),
        async (lowest, kept, depth) => {
          const { options, writes, asked } = situation({
            lowest,
            shared: lowest + kept,
            head: lowest + kept + depth
          })
          expect(await resolveReorg(options)).toBe(true)
          expect(writes).toEqual(['confirmIdentity', `rollbackTo ${lowest + kept}`])
          expect(asked.length).toBeLessThanOrEqual(2 * Math.ceil(Math.log2(depth + 1)) + 2)
        }
      )
    )
  })

  it('empties the index when not even its first block is shared, once the node is known to serve the same chain', async () => {
    const { options, writes } = situation({ lowest: 10, shared: 9, head: 50 })
    expect(await resolveReorg(options)).toBe(true)
    expect(writes).toEqual(['confirmIdentity', 'rollbackAll'])
  })

  it('touches nothing when the node turns out to serve another chain', async () => {
    // With or without a common past: some chains share their first blocks.
    for (const shared of [9, 30]) {
      const { options, writes } = situation({ lowest: 10, shared, head: 50 })
      const confirmIdentity = () => Promise.reject(new ConfigError('another chain'))
      await expect(resolveReorg({ ...options, confirmIdentity })).rejects.toThrow(ConfigError)
      expect(writes).toEqual([])
    }
  })

  it.each([
    [30, 30],
    [9, -1]
  ])(
    'with block %i shared tells before anything is removed that %i is the newest to stay',
    async (shared, kept) => {
      const { options, writes } = situation({ lowest: 10, shared, head: 50 })
      await resolveReorg({ ...options, onRollback: number => writes.push(`told ${number}`) })
      expect(writes.slice(0, 2)).toEqual(['confirmIdentity', `told ${kept}`])
      expect(writes[2]).toMatch(/^rollback/)
    }
  )

  it("removes nothing when the suspected block is the node's after all", async () => {
    const { options, writes } = situation({ lowest: 10, shared: 60, head: 50 })
    expect(await resolveReorg(options)).toBe(false)
    expect(await resolveReorg({ ...options, suspect: 55 })).toBe(false)
    expect(writes).toEqual([])
  })

  it('goes below a suspected block that is not the head', async () => {
    const { options, writes } = situation({ lowest: 10, shared: 30, head: 50 })
    expect(await resolveReorg({ ...options, suspect: 40 })).toBe(true)
    expect(writes).toEqual(['confirmIdentity', 'rollbackTo 30'])
  })

  it('removes nothing while the node does not have blocks that it must have', async () => {
    const { options, writes } = situation({ lowest: 10, shared: 30, head: 50 })
    const source = { ...options.source, blockRef: async () => undefined }
    await expect(resolveReorg({ ...options, source })).rejects.toThrow(NodeContradictionError)
    expect(writes).toEqual([])
  })
})
