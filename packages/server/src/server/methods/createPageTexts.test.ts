import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Address, BlockRef, Hash, Snapshot } from '@chain-data/index'
import { encodeBlock, packBlocks } from '@chain-data/index/record'
import {
  buildChain,
  commitChain,
  hashOf,
  openSqliteReader,
  openSqliteWriter,
  people
} from '@chain-data/index/test'
import { afterEach, expect, it, vi } from 'vitest'
import { createRandom } from '../../../../devnet/src/platform/createRandom.ts'
import { createAddressFormat } from '../../platform/addressFormat.ts'
import { type ConfirmedPage, createPageTexts, type PageTexts } from './createPageTexts.ts'
import { type Attached, createRecordWriter } from './createRecordWriter.ts'
import { ResultText } from './MethodContext.ts'

const chainId = 1
const accounts = people.slice(0, 3)
const disposals: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const dispose of disposals.splice(0)) await dispose()
})

async function startStore() {
  const folder = await mkdtemp(join(tmpdir(), 'chain-data-pages-'))
  const writer = await openSqliteWriter(folder, { chainId, genesisHash: hashOf('genesis') })
  const reader = await openSqliteReader(folder, chainId)
  disposals.push(async () => {
    await reader.close()
    await writer.close()
    await rm(folder, { recursive: true, force: true })
  })
  return { writer, reader }
}

const write = createRecordWriter(createAddressFormat())
const keeping = (bytes: number) => createPageTexts({ write, bytes })

async function textOf(
  pages: PageTexts,
  snapshot: Snapshot,
  address: Address,
  limit: number,
  before?: Hash
): Promise<string> {
  let olderThan: { blockNumber: number; index: number } | undefined
  if (before !== undefined) {
    const found = await snapshot.lookUpHash(before)
    if (found.kind !== 'confirmed') return found.kind
    olderThan = found.position
  }
  const { from: indexedFrom = 0 } = (await snapshot.indexedRange()) ?? {}
  const page = { chainId, address, limit, before, olderThan, indexedFrom }
  return pageOf(pages, snapshot, page)
}

/** Asks in the order of the method. */
async function pageOf(pages: PageTexts, snapshot: Snapshot, page: ConfirmedPage): Promise<string> {
  const kept = pages.kept(page)
  const isUnchanged = kept?.version !== undefined && kept.version === snapshot.version
  const found = isUnchanged
    ? kept.text
    : ((await pages.find(snapshot, page)) ?? (await pages.read(snapshot, page)))
  if (!(found instanceof ResultText)) throw new Error('expected a page that is kept')
  return found.bytes.toString()
}

const seed = Number(process.env.CHAIN_DATA_TEST_SEED ?? 1)

it(`gives what the store holds, whatever comes and is rolled back (CHAIN_DATA_TEST_SEED=${seed})`, async () => {
  const { writer, reader } = await startStore()
  const random = createRandom(seed)
  const caches = [keeping(2 ** 20), keeping(20_000), keeping(1)]
  const refs: BlockRef[] = []
  const names: string[] = []
  for (let step = 0; step < 120; step++) {
    if (refs.length > 3 && random.below(4) === 0) {
      refs.splice(Math.max(1, refs.length - 1 - random.below(3)))
      const last = refs.at(-1)
      if (last !== undefined) await writer.rollbackTo(last)
    } else {
      const plans = Array.from({ length: 1 + random.below(2) }, (_, block) =>
        Array.from({ length: random.below(3) }, (_, index) => {
          // Transactions that were removed come back too, in other blocks.
          const name = `${random.below(60)} ${random.below(8) === 0 ? step : 'again'} ${block} ${index}`
          names.push(name)
          return {
            name,
            parties: [accounts[random.below(3)] ?? '0x', accounts[random.below(3)] ?? '0x'] as const
          }
        })
      )
      const parent = refs.at(-1)
      const blocks = buildChain(plans, { fork: String(step), ...(parent && { parent }) })
      await commitChain(writer, blocks)
      refs.push(...blocks.map(({ ref }) => ref))
    }
    const snapshot = await reader.openSnapshot()
    for (const address of accounts) {
      for (const limit of [1, 2, 5, 500]) {
        const name = names[random.below(Math.max(1, names.length))]
        for (const before of [undefined, name === undefined ? undefined : hashOf(name)]) {
          const expected = await textOf(
            createPageTexts({ write, bytes: 0 }),
            snapshot,
            address,
            limit,
            before
          )
          for (const pages of caches) {
            expect(await textOf(pages, snapshot, address, limit, before)).toBe(expected)
          }
        }
      }
    }
    await snapshot.close()
  }
})

it('reads a page once while nothing of the account comes, and anew when something does', async () => {
  const { writer, reader } = await startStore()
  const [alice = '0x', bob = '0x', carol = '0x'] = accounts
  const first = buildChain([[{ name: 'a', parties: [alice, bob] }], [{ name: 'b', parties: [alice, carol] }]])
  await commitChain(writer, first)
  const counted = vi.fn(write)
  const pages = createPageTexts({ write: counted, bytes: 2 ** 20 })
  const ask = async () => {
    const snapshot = await reader.openSnapshot()
    await textOf(pages, snapshot, alice, 100)
    await snapshot.close()
    return counted.mock.calls.length
  }
  expect([await ask(), await ask()]).toEqual([1, 1])
  const parent = first.at(-1)?.ref
  const others = buildChain([[{ name: 'c', parties: [bob, carol] }]], parent && { parent })
  await commitChain(writer, others)
  expect(await ask()).toBe(1)
  await commitChain(
    writer,
    buildChain([[{ name: 'd', parties: [carol, alice] }]], others[0] && { parent: others[0].ref })
  )
  expect([await ask(), await ask()]).toEqual([2, 2])
})

it('reads a page that is too long to be kept in pieces, and ends the read with them', async () => {
  let ended = 0
  const records = async function* () {
    try {
      for (let id = 1; ; id++) yield { ids: [id], bytes: new Uint8Array() }
    } finally {
      ended++
    }
  }
  const pages = createPageTexts({
    write: ({ ids }) => Buffer.from(`${ids[0]}`.padStart(100_000, '0')),
    bytes: 2 ** 20
  })
  const view = { records, rollbacks: async () => 0, version: 1 }
  const page = { chainId, address: '0x', limit: 500, olderThan: undefined, indexedFrom: 0 } as const
  const found = await pages.read(view, page)
  if (found instanceof ResultText) throw new Error('expected pieces')
  const seen: number[] = []
  for await (const piece of found) {
    seen.push(...piece.split(',').map(Number))
    if (seen.length === 5) break
  }
  expect([seen, ended, pages.kept(page)]).toEqual([[1, 2, 3, 4, 5], 1, undefined])
})

it('keeps a page for each choice of what is attached, and hands the choice on', async () => {
  const { writer, reader } = await startStore()
  const [alice = '0x', bob = '0x'] = accounts
  await commitChain(writer, buildChain([[{ name: 'a', parties: [alice, bob] }]]))
  const asked = vi.fn((_chunk: unknown, attached?: Attached) =>
    Buffer.from(JSON.stringify(attached ?? 'nothing'))
  )
  const pages = createPageTexts({ write: asked, bytes: 2 ** 20 })
  const choices: (Attached | undefined)[] = [
    undefined,
    { address: alice, transfers: true, internal: false, operations: false },
    { address: alice, transfers: false, internal: true, operations: false },
    { address: alice, transfers: false, internal: false, operations: true },
    { address: alice, transfers: true, internal: true, operations: false }
  ]
  const snapshot = await reader.openSnapshot()
  for (const round of [1, 2]) {
    for (const attached of choices) {
      const page = {
        chainId,
        address: alice,
        limit: 5,
        olderThan: undefined,
        indexedFrom: 0,
        attached
      }
      expect(await pageOf(pages, snapshot, page)).toBe(JSON.stringify(attached ?? 'nothing'))
    }
    expect([round, asked.mock.calls.length]).toEqual([round, choices.length])
  }
  await snapshot.close()
})

it('gives a page out without a read as long as nothing is committed, and reads again after any commit', async () => {
  const { writer, reader } = await startStore()
  const [alice = '0x', bob = '0x', carol = '0x'] = accounts
  const first = buildChain([[{ name: 'a', parties: [alice, bob] }]])
  await commitChain(writer, first)
  const pages = keeping(2 ** 20)
  const page = { chainId, address: alice, limit: 5, olderThan: undefined, indexedFrom: 0 }
  const ask = async () => {
    const snapshot = await reader.openSnapshot()
    await snapshot.indexedRange()
    await pageOf(pages, snapshot, page)
    await snapshot.close()
  }
  const isUnchanged = () => {
    const version = reader.unchangedState()?.version
    return version !== undefined && pages.kept(page)?.version === version
  }
  // The first snapshot cannot know whether a commit came before it or after it.
  await ask()
  expect(isUnchanged()).toBe(false)
  await ask()
  await ask()
  const beforeMs = performance.now()
  expect([isUnchanged(), isUnchanged()]).toEqual([true, true])
  await commitChain(
    writer,
    buildChain([[{ name: 'b', parties: [bob, carol] }]], first[0] && { parent: first[0].ref })
  )
  // It still held when a request came that is answered only now, and not for one that came after the commit.
  expect(reader.unchangedState(beforeMs)?.range?.to.number).toBe(0)
  expect(reader.unchangedState(performance.now())).toBe(undefined)
  expect(reader.unchangedState()).toBe(undefined)
  await ask()
  await ask()
  expect([isUnchanged(), reader.unchangedState()?.range?.to.number]).toEqual([true, 1])
})

it('reads a page again that older blocks make longer, and keeps one that is full', async () => {
  const { writer, reader } = await startStore()
  const [alice = '0x', bob = '0x'] = accounts
  const blocks = buildChain(Array.from({ length: 4 }, (_, i) => [{ name: String(i), parties: [alice, bob] }]))
  await commitChain(writer, blocks.slice(2))
  const pages = keeping(2 ** 20)
  const ask = async (limit: number) => {
    const snapshot = await reader.openSnapshot()
    const text = await textOf(pages, snapshot, alice, limit)
    await snapshot.close()
    return JSON.parse(`[${text}]`).length
  }
  expect([await ask(2), await ask(3)]).toEqual([2, 2])
  await writer.prependBlocks(packBlocks(blocks.slice(1, 2).map(encodeBlock)))
  expect([await ask(2), await ask(3)]).toEqual([2, 3])
})
