import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { StoreWriter } from '../../index/port/writer.ts'
import { type BlockRows, encodeBlock } from '../../index/record/encodeBlock.ts'
import { openSqliteWriter } from '../../index/sqlite/openWriter.ts'
import { buildChain, hashOf, people } from '../../index/test/buildChain.ts'
import { commitChain } from '../../index/test/commitChain.ts'
import { createIndexCounts, type IndexCounts } from './indexCounts.ts'

const alice = people[0]!
let folder: string
let counts: IndexCounts
let store: StoreWriter
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'chain-data-counts-'))
  counts = createIndexCounts(1)
  store = counts.watchStore(await openSqliteWriter(folder, { chainId: 1, genesisHash: hashOf('genesis') }))
})
afterEach(async () => {
  await store.close()
  await rm(folder, { recursive: true, force: true })
})

const total = ({ counts: all }: { readonly counts: readonly number[] }) => all.reduce((sum, n) => sum + n, 0)

it('counts what is stored and what reorgs remove, and neither what fails nor what changes nothing', async () => {
  const plans = Array.from({ length: 6 }, (_, i) => [
    { name: `${i}a`, parties: [alice] },
    { name: `${i}b`, parties: [alice] }
  ])
  const chain = buildChain(plans)
  await commitChain(store, chain.slice(0, 4))
  await commitChain(store, chain.slice(4))
  await expect(commitChain(store, chain.slice(0, 1))).rejects.toThrow()
  expect(counts.read()).toMatchObject({ chainId: 1, blocks: 6, transactions: 12 })
  expect(total(counts.read().commits)).toBe(2)
  expect(total(counts.read().reorgDepths)).toBe(0)

  await store.rollbackTo(chain[2]!.ref)
  await store.rollbackTo(chain[2]!.ref)
  await store.rollbackAll()
  expect(counts.read().reorgDepths).toMatchObject({ sum: 6, counts: [0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0] })
  expect(total(counts.read().rollbacks)).toBe(2)
  expect(counts.read().blocks).toBe(6)
})

it('knows how many blocks are asked for, and how large the pool was', async () => {
  let answer: (block: BlockRows | undefined) => void = () => {}
  const source = counts.watchSource({
    block: (_number: number) =>
      new Promise<BlockRows>((resolve, reject) => {
        answer = block => (block === undefined ? reject(new Error('refused')) : resolve(block))
      })
  })
  const [block] = buildChain([[]]).map(encodeBlock)
  for (const outcome of [block, undefined]) {
    const asked = source.block(0)
    expect(counts.read().blocksUnderWay).toBe(1)
    answer(outcome)
    await asked.catch(() => undefined)
    expect(counts.read().blocksUnderWay).toBe(0)
  }
  expect(counts.read()).not.toHaveProperty('poolTransactions')
  await store.updatePool({ present: [], seenAtSeconds: 1, headAfter: 0 })
  expect(counts.read().poolTransactions).toBe(0)
})
