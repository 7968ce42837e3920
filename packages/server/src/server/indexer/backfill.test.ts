import { expect, it, vi } from 'vitest'
import type { StoreWriter } from '../../index/port/writer.ts'
import { type BlockRows, encodeBlock } from '../../index/record/encodeBlock.ts'
import { buildChain, hashOf } from '../../index/test/buildChain.ts'
import { NodeUnavailableError, StoreError } from '../../platform/errors.ts'
import { type BackfillOptions, backfill } from './backfill.ts'
import type { ChainSource } from './chainSource.ts'

/** Blocks as if they had so many transactions with records of so many bytes in all. */
function chainOf(blocks: number, transactions: number, bytes = 0): readonly BlockRows[] {
  const chain = buildChain(Array.from({ length: blocks }, () => [])).map(encodeBlock)
  return chain.map(block => ({
    ...{ ...block, transactionCount: transactions },
    ...{ indexes: Uint16Array.from({ length: transactions }, (_, i) => i) },
    ...{ hashes: new Uint8Array(32 * transactions), records: new Uint8Array(bytes) },
    recordEnds: new Uint32Array(transactions).fill(bytes),
    partyEnds: new Uint32Array(transactions)
  }))
}

/** A store whose commits end when the test says so. */
function createGate() {
  const commits: { readonly numbers: readonly number[]; end(error?: unknown): void }[] = []
  let underWay = 0
  const store: Pick<StoreWriter, 'commitBlocks'> = {
    async commitBlocks({ headers }) {
      if (underWay > 0) throw new Error('two commits at the same time')
      underWay++
      await new Promise<void>((resolve, reject) => {
        const end = (error?: unknown) => (error === undefined ? resolve() : reject(error))
        commits.push({ numbers: headers.map(({ ref }) => ref.number), end })
      })
      underWay--
    }
  }
  return { store, commits }
}

function start(
  chain: readonly BlockRows[],
  store: Pick<StoreWriter, 'commitBlocks'>,
  options: Partial<BackfillOptions> & { readonly block?: ChainSource['block'] } = {}
) {
  const asked: number[] = []
  const stored: number[] = []
  const nobody = () => {
    throw new Error('not to be called')
  }
  const source: ChainSource = {
    ...{ identity: nobody, head: nobody, blockRef: nobody, knowsBlock: nobody, pool: nobody },
    async block(number, signal) {
      asked.push(number)
      return options.block === undefined ? chain[number]! : options.block(number, signal)
    }
  }
  const done = backfill({
    ...{ source, store, from: 0, to: chain.length - 1, window: 4, tries: 1 },
    signal: new AbortController().signal,
    onCommit: blocks => void stored.push(...blocks.map(({ ref }) => ref.number)),
    ...options
  })
  done.catch(() => undefined)
  return { done, asked, stored }
}

/** Everything that can happen without the gate has happened. */
async function idle(): Promise<void> {
  for (let turn = 0; turn < 50; turn++) await new Promise(resolve => setImmediate(resolve))
}

const upTo = (end: number, from = 0) => Array.from({ length: end - from }, (_, i) => from + i)

it('gathers the next batch while one is stored, and no more than that', async () => {
  const chain = chainOf(60, 500)
  const { store, commits } = createGate()
  const { done, asked, stored } = start(chain, store)
  await idle()
  // 8,000 transactions are under way, 8,000 wait, and the window is full: nothing more is asked for.
  expect(commits.map(({ numbers }) => numbers)).toEqual([upTo(16)])
  expect(Math.max(...asked)).toBe(16 + 16 + 3 - 1)
  expect(stored).toEqual([])
  commits[0]?.end()
  await idle()
  expect(commits.map(({ numbers }) => numbers)).toEqual([upTo(16), upTo(32, 16)])
  expect(stored).toEqual(upTo(16))
  for (const each of [1, 2, 3]) {
    commits[each]?.end()
    await idle()
  }
  expect(await done).toEqual({ kind: 'stored' })
  expect(stored).toEqual(upTo(60))
})

it('lets large blocks wait by their bytes, not by their number', async () => {
  const chain = chainOf(200, 1, 1024 * 1024)
  const { store, commits } = createGate()
  const { done, asked, stored } = start(chain, store, { window: 32 })
  await idle()
  expect(commits.map(({ numbers }) => numbers)).toEqual([upTo(8)])
  // 8 MB under way, 8 MB wait, and the rest of a window of 8 MB.
  expect(Math.max(...asked)).toBe(21)
  let most = 0
  for (let each = 0; stored.length < chain.length; each++) {
    commits[each]?.end()
    await idle()
    if (each > 1) most = Math.max(most, Math.max(...asked) + 1 - stored.length)
  }
  expect(await done).toEqual({ kind: 'stored' })
  expect(commits.every(({ numbers }) => numbers.length <= 8)).toBe(true)
  // 8 MB under way, 8 MB wait, and 8 MB are being fetched.
  expect(most).toBeLessThanOrEqual(24)
})

it('gives a store that has nothing to do what there is after half a second', async () => {
  const chain = chainOf(9, 1)
  const { store, commits } = createGate()
  let later: (block: BlockRows) => void = () => {}
  const { done } = start(chain, store, {
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
  expect(await done).toEqual({ kind: 'stored' })
})

it('stores a single block at once', async () => {
  const { store, commits } = createGate()
  const { done, stored } = start(chainOf(1, 1), store)
  await idle()
  expect(commits.map(({ numbers }) => numbers)).toEqual([[0]])
  commits[0]?.end()
  await done
  expect(stored).toEqual([0])
})

it('ends with what the store threw as soon as it throws, also while a block takes for ever', async () => {
  const chain = chainOf(9, 4_000)
  const { store, commits } = createGate()
  const { done, stored } = start(chain, store, {
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
  const { store, commits } = createGate()
  const { done, stored } = start(chain, store, {
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
  expect(await done).toMatchObject({ kind: 'failed', failure: { blockNumber: 5 } })
  expect(stored).toEqual(upTo(5))
})

it('leaves out the block before one that is no child of it, and waits for what is under way', async () => {
  const chain = chainOf(9, 4_000).map((block, number) =>
    number === 5 ? { ...block, parentHash: hashOf('elsewhere') } : block
  )
  const { store, commits } = createGate()
  const { done, stored } = start(chain, store)
  await idle()
  commits[0]?.end()
  await idle()
  commits[1]?.end()
  expect(await done).toEqual({ kind: 'unlinked', blockNumber: 5 })
  expect(stored).toEqual(upTo(4))
})

it('finishes what is under way when it is stopped, and asks for nothing more', async () => {
  const chain = chainOf(60, 500)
  const { store, commits } = createGate()
  const stopping = new AbortController()
  const { done, asked, stored } = start(chain, store, { signal: stopping.signal })
  await idle()
  stopping.abort(new Error('the server stops'))
  const known = asked.length
  for (let each = 0; each < 5; each++) {
    commits[each]?.end()
    await idle()
  }
  expect((await done).kind).toBe('failed')
  expect(asked.length).toBe(known)
  expect(stored).toEqual(commits.flatMap(({ numbers }) => numbers))
})

it('does not end before a commit that is under way, whatever ends it', async () => {
  const chain = chainOf(9, 4_000)
  const { store, commits } = createGate()
  const { done, stored } = start(chain, store, {
    // A mistake of the source, which nobody expects.
    block: async number => (number < 3 ? chain[number] : undefined) as BlockRows
  })
  let ended = false
  done.catch(() => {
    ended = true
  })
  await idle()
  expect(commits.map(({ numbers }) => numbers)).toEqual([[0, 1]])
  expect(ended).toBe(false)
  commits[0]?.end()
  await expect(done).rejects.toThrow(TypeError)
  expect(stored).toEqual([0, 1])
})
