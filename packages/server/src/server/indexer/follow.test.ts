import { StoreError, type StoreWriter } from '@chain-data/index'
import { type BlockRows, encodeBlock } from '@chain-data/index/record'
import { buildChain, hashOf } from '@chain-data/index/test'
import { afterEach, expect, it, vi } from 'vitest'
import type { EvmSource } from '../../evm/blocks/evmSource.ts'
import { NodeUnavailableError } from '../../platform/errors.ts'
import { silentLogger } from '../../platform/logger.ts'
import { type FollowOptions, follow } from './follow.ts'
import { createIndexCounts } from './indexCounts.ts'
import { createStatusBoard } from './status.ts'

/** Blocks as if they had so many transactions with records of so many bytes in all. */
function chainOf(blocks: number, transactions: number, bytes = 0): readonly BlockRows[] {
  const chain = buildChain(Array.from({ length: blocks }, () => [])).map(encodeBlock)
  return chain.map(block => ({
    ...{ ...block, transactionCount: transactions },
    ...{ ids: new Float64Array(transactions), records: new Uint8Array(bytes) },
    recordEnds: new Uint32Array(transactions).fill(bytes)
  }))
}

/** A store of `chain` whose commits end when the test says so. */
function createGate(chain: readonly BlockRows[]) {
  const commits: { readonly numbers: readonly number[]; end(error?: unknown): void }[] = []
  const stored: number[] = []
  let underWay = 0
  const store: StoreWriter = {
    async commitBlocks({ headers }) {
      if (underWay > 0) throw new Error('two commits at the same time')
      underWay++
      const numbers = headers.map(({ ref }) => ref.number)
      await new Promise<void>((resolve, reject) => {
        const end = (error?: unknown) => (error === undefined ? resolve() : reject(error))
        commits.push({ numbers, end })
      })
      stored.push(...numbers)
      underWay--
    },
    async state() {
      const head = chain[stored.at(-1) ?? -1]?.ref
      const marks = { backfilled: true, settled: true, degraded: false }
      return { ...marks, ...(head === undefined ? {} : { head, indexedFrom: 0 }) }
    },
    blockRef: async number => (stored.includes(number) ? chain[number]?.ref : undefined),
    prependBlocks: nobody,
    replaceBlock: nobody,
    repair: nobody,
    coversTraces: nobody,
    dropPool: nobody,
    dropChanges: nobody,
    takeDamage: nobody,
    rollbackTo: nobody,
    rollbackAll: nobody,
    markBackfilled: async () => {},
    markSettled: async () => {},
    markFinal: nobody,
    updatePool: async () => {},
    report: nobody,
    close: nobody
  }
  return { store, commits, stored }
}

function nobody(): never {
  throw new Error('not to be called')
}

const stops: (() => Promise<void>)[] = []

afterEach(async () => {
  for (const stop of stops.splice(0)) await stop()
})

/** Follows `chain` into a gate; a pause lasts until the end of the test. */
function start(
  chain: readonly BlockRows[],
  options: Partial<FollowOptions> & { readonly block?: EvmSource['block'] } = {}
) {
  const { block, ...others } = options
  const { store, commits, stored } = createGate(chain)
  const asked: number[] = []
  const identity = { chainId: 1, genesisHash: hashOf('genesis') }
  const head = chain.at(-1)!.ref
  const source: FollowOptions['source'] = {
    identity: async () => ({ chainId: 1n, genesisHash: identity.genesisHash }),
    head: async () => ({ head }),
    blockRef: async number => chain[number]?.ref,
    knowsBlock: nobody,
    oldestBlock: nobody,
    pool: async () => undefined,
    async block(number, signal) {
      asked.push(number)
      return block === undefined ? chain[number]! : block(number, signal)
    }
  }
  const board = createStatusBoard({
    ...{ chainId: 1, phase: 'starting', indexedFrom: 0 },
    ...{ backfilled: false, degraded: false, poolCovered: false }
  })
  const stopping = new AbortController()
  const stop = (reason = new Error('the server stops')) => stopping.abort(reason)
  const done = follow({
    ...{ source, store, identity, startBlock: 0, pollIntervalMs: 50, board, logger: silentLogger },
    counts: createIndexCounts(1),
    ...{ window: 4, signal: stopping.signal },
    wait: (_, signal) =>
      new Promise(resolve => {
        if (signal.aborted) resolve()
        signal.addEventListener('abort', () => resolve(), { once: true })
      }),
    ...others
  })
  done.catch(() => undefined)
  stops.push(async () => {
    stop()
    for (const { end } of commits) end()
    await done.catch(() => undefined)
  })
  return { done, stop, asked, stored, commits, status: board.read }
}

/** Everything that can happen without the gate has happened. */
async function idle(): Promise<void> {
  for (let turn = 0; turn < 50; turn++) await new Promise(resolve => setImmediate(resolve))
}

const upTo = (end: number, from = 0) => Array.from({ length: end - from }, (_, i) => from + i)

it('gathers the next batch while one is stored, and no more than that', async () => {
  const chain = chainOf(60, 500)
  const { asked, stored, commits, status } = start(chain)
  await idle()
  // 8,000 transactions are under way, 8,000 wait, and the window is full: nothing more is asked for.
  expect(commits.map(({ numbers }) => numbers)).toEqual([upTo(16)])
  expect(Math.max(...asked)).toBe(16 + 16 + 4 - 1)
  expect(stored).toEqual([])
  commits[0]?.end()
  await idle()
  expect(commits.map(({ numbers }) => numbers)).toEqual([upTo(16), upTo(32, 16)])
  expect(stored).toEqual(upTo(16))
  for (const each of [1, 2, 3]) {
    commits[each]?.end()
    await idle()
  }
  expect(stored).toEqual(upTo(60))
  expect(status().phase).toBe('following')
})

it('lets large blocks wait by their bytes, not by their number', async () => {
  const chain = chainOf(200, 1, 1024 * 1024)
  const { asked, stored, commits, status } = start(chain, { maxBytes: 8 * 1024 * 1024 })
  await idle()
  expect(commits.map(({ numbers }) => numbers)).toEqual([upTo(8)])
  // 8 MB under way, 8 MB wait, and at most 8 MB are asked for or held: how many, the order of their answers decides.
  expect(Math.max(...asked)).toBeGreaterThanOrEqual(16)
  expect(Math.max(...asked)).toBeLessThan(24)
  let most = 0
  for (let each = 0; stored.length < chain.length; each++) {
    commits[each]?.end()
    await idle()
    if (each > 1) most = Math.max(most, Math.max(...asked) + 1 - stored.length)
  }
  expect(status().phase).toBe('following')
  expect(commits.every(({ numbers }) => numbers.length <= 8)).toBe(true)
  // 8 MB under way, 8 MB wait, and 8 MB are being fetched.
  expect(most).toBeLessThanOrEqual(24)
})

it('gives a store that has nothing to do what there is after half a second', async () => {
  const chain = chainOf(9, 1)
  let later: (block: BlockRows) => void = () => {}
  const { commits, stored } = start(chain, {
    window: 1,
    block: number =>
      number === 3
        ? new Promise(resolve => {
            later = resolve
          })
        : Promise.resolve(chain[number]!)
  })
  await idle()
  expect(commits).toEqual([])
  const now = vi.spyOn(performance, 'now').mockReturnValue(performance.now() + 500)
  later(chain[3]!)
  await idle()
  now.mockRestore()
  expect(commits[0]?.numbers.slice(0, 4)).toEqual(upTo(4))
  commits[0]?.end()
  await idle()
  commits[1]?.end()
  await idle()
  expect(stored).toEqual(upTo(9))
})

it('stores a single block at once', async () => {
  const { stored, commits } = start(chainOf(1, 1))
  await idle()
  expect(commits.map(({ numbers }) => numbers)).toEqual([[0]])
  commits[0]?.end()
  await idle()
  expect(stored).toEqual([0])
})

it('ends with what the store threw as soon as it throws, also while a block takes for ever', async () => {
  const chain = chainOf(9, 4_000)
  const { done, stored, commits } = start(chain, {
    block: (number, signal) =>
      number < 2
        ? Promise.resolve(chain[number]!)
        : new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)))
  })
  await idle()
  const failure = new StoreError('the disk is full')
  commits[0]?.end(failure)
  await expect(done).rejects.toBe(failure)
  await idle()
  expect(commits).toHaveLength(1)
  expect(stored).toEqual([])
})

it('stores what comes before a block that cannot be had, after what is under way', async () => {
  const chain = chainOf(9, 4_000)
  const { stored, commits, status } = start(chain, {
    block: async number => {
      if (number === 5) throw new NodeUnavailableError('gone')
      return chain[number]!
    }
  })
  await idle()
  expect(commits.map(({ numbers }) => numbers)).toEqual([[0, 1]])
  for (const each of [0, 1, 2]) {
    commits[each]?.end()
    await idle()
  }
  expect(status()).toMatchObject({ phase: 'stalled', problem: 'block 5: gone' })
  expect(stored).toEqual(upTo(5))
})

it('leaves out the block before one that is no child of it, and waits for what is under way', async () => {
  const chain = chainOf(9, 4_000).map((block, number) =>
    number === 5 ? { ...block, parentHash: hashOf('elsewhere') } : block
  )
  const { stored, commits, status } = start(chain)
  await idle()
  commits[0]?.end()
  await idle()
  expect(status().phase).toBe('backfilling')
  commits[1]?.end()
  await idle()
  // The node goes on to name two blocks that do not fit to each other.
  expect(status()).toMatchObject({ phase: 'stalled', problem: expect.stringMatching(/^block 4: /) })
  expect(stored).toEqual(upTo(4))
})

it('finishes what is under way when it is stopped, and asks for nothing more', async () => {
  const chain = chainOf(60, 500)
  const { done, stop, asked, stored, commits } = start(chain)
  await idle()
  stop()
  const known = asked.length
  for (let each = 0; each < 5; each++) {
    commits[each]?.end()
    await idle()
  }
  await done
  expect(asked.length).toBe(known)
  expect(stored).toEqual(commits.flatMap(({ numbers }) => numbers))
})

it('does not count as stalled before a commit that is under way has ended, whatever went wrong', async () => {
  const chain = chainOf(9, 4_000)
  const { stored, commits, status } = start(chain, {
    // A mistake of the source, which nobody expects.
    block: async number => (number < 3 ? chain[number] : undefined) as BlockRows
  })
  await idle()
  expect(commits.map(({ numbers }) => numbers)).toEqual([[0, 1]])
  expect(status().phase).not.toBe('stalled')
  commits[0]?.end()
  await idle()
  commits[1]?.end()
  await idle()
  expect(status()).toMatchObject({ phase: 'stalled', problem: expect.stringContaining('internal error') })
  expect(stored).toEqual([0, 1, 2])
})
