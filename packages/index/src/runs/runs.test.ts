import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createMemoryChunks, type MemoryChunks } from '../../test/memoryChunks.ts'
import {
  accountBytes,
  hashBytes,
  idOf,
  type ModelEvent,
  type ModelTransaction,
  tokenKey,
  toRunRows
} from '../../test/randomRows.ts'
import { RunMerge } from './RunMerge.ts'
import { GroupCursor } from './RunReader.ts'
import type { Run } from './run.ts'
import { SectionScan } from './SectionScan.ts'
import { sealBlocks } from './sealBlocks.ts'
import { sections } from './sections.ts'

const chainId = 11_155_111

/** Some blocks; a few accounts are in most transactions. */
const blocksOfTransactions = fc
  .array(
    fc.record({
      gap: fc.constantFrom(0, 0, 0, 1, 1, 2, 300),
      skip: fc.constantFrom(0, 0, 1, 700),
      hash: fc.nat(0xffffffff),
      parties: fc.array(fc.tuple(fc.oneof(fc.nat(3), fc.nat(400)), fc.integer({ min: 1, max: 255 })), {
        minLength: 1,
        maxLength: 5
      }),
      tokens: fc.array(
        fc.record({
          owner: fc.oneof(fc.nat(3), fc.nat(400)),
          contract: fc.nat(40),
          tokenId: fc.option(fc.nat(3_000), { nil: undefined }),
          roles: fc.constantFrom(8, 16)
        }),
        { maxLength: 3 }
      )
    }),
    { maxLength: 600, size: 'max' }
  )
  .map(list => {
    let block = 1_000
    let index = -1
    return list.map(({ gap, skip, hash, parties, tokens }): ModelTransaction => {
      block += gap
      index = gap > 0 ? skip : index + 1 + skip
      return { block, index, hash, parties: new Map(parties), tokens }
    })
  })

/** Writes runs that end before some of the blocks. */
function writeRuns(
  chunks: MemoryChunks,
  transactions: readonly ModelTransaction[],
  cuts: readonly number[]
): readonly Run[] {
  const last = (transactions.at(-1)?.block ?? 1_000) + 1
  const ends = [...new Set(cuts.map(cut => 1_000 + (cut % (last - 999))))].sort((a, b) => a - b)
  let first = 1_000
  return [...ends.filter(end => end < last), last].map((end, i) => {
    const own = transactions.filter(({ block }) => block >= first && block <= end)
    const run = sealBlocks(chainId, i + 1, toRunRows(first, end, own, eventsOf(own)), true, chunk =>
      chunks.put(chunk)
    )
    first = end + 1
    return run
  })
}

/** One of a few accounts has events in each block. */
function eventsOf(transactions: readonly ModelTransaction[]): readonly ModelEvent[] {
  return [...new Set(transactions.map(({ block }) => block))].map(block => ({ account: block % 4, block }))
}

async function readAll(cursor: GroupCursor, count: number) {
  const rows: (readonly [number, number])[] = []
  for (;;) {
    const { ids, roles } = await cursor.next(count)
    rows.push(...ids.map((id, i) => [id, roles[i] ?? 0] as const))
    if (ids.length < count) return rows
  }
}

function historyOf(transactions: readonly ModelTransaction[], account: number, before: number) {
  return transactions
    .filter(each => each.parties.has(account) && idOf(each) < before)
    .map(each => [idOf(each), each.parties.get(account) ?? 0] as const)
    .reverse()
}

describe('runs', () => {
  it('answer what was written, before and after they are merged', async () => {
    await fc.assert(
      fc.asyncProperty(
        blocksOfTransactions,
        fc.array(fc.nat(1_000), { maxLength: 6 }),
        fc.integer({ min: 1, max: 300 }),
        fc.constantFrom<readonly [number, number]>([1, 1], [2, 64]),
        fc.integer({ min: 1, max: 500 }),
        async (transactions, cuts, count, searchesAtOnce, piece) => {
          const chunks = createMemoryChunks(searchesAtOnce)
          const runs = writeRuns(chunks, transactions, cuts)
          await compare(chunks, transactions, [...runs].reverse(), count)
          const merged = await merge(chunks, runs, piece)
          expect(merged).toMatchObject({ firstBlock: 1_000, transactions: transactions.length })
          await compare(chunks, transactions, [merged], count)
        }
      ),
      { numRuns: 60 }
    )
  })
})

/** Merges piece by piece. */
async function merge(chunks: MemoryChunks, runs: readonly Run[], piece: number): Promise<Run> {
  const merging = new RunMerge(chainId, runs, 100)
  for (;;) {
    const { chunks: written, merged } = await merging.step(chunks, piece)
    for (const chunk of written) chunks.put(chunk)
    if (merged !== undefined) return merged
  }
}

async function compare(
  chunks: MemoryChunks,
  transactions: readonly ModelTransaction[],
  runs: readonly Run[],
  count: number
): Promise<void> {
  const middle = transactions[transactions.length >> 1]
  for (const before of [Number.MAX_SAFE_INTEGER, middle === undefined ? 5 : idOf(middle)]) {
    for (const account of [0, 1, 2, 3, 17, 90, 401]) {
      const cursor = new GroupCursor(chunks, chainId, sections.address, runs, accountBytes(account), before)
      expect(await readAll(cursor, count)).toEqual(historyOf(transactions, account, before))
    }
  }
  for (const each of transactions.slice(0, 20)) {
    const key = hashBytes(each.hash).subarray(0, 6)
    const found = await readAll(new GroupCursor(chunks, chainId, sections.hash, runs, key), count)
    expect(found.map(([id]) => id)).toContain(idOf(each))
  }
  for (const account of [0, 1, 2, 3, 4]) {
    const found = await readAll(
      new GroupCursor(chunks, chainId, sections.event, runs, accountBytes(account)),
      count
    )
    const expected = eventsOf(transactions).filter(each => each.account === account)
    expect(found.map(([id]) => id).reverse()).toEqual(expected.map(({ block }) => idOf({ block, index: 0 })))
  }
  const tokens = new Set<string>()
  for (const run of runs) for (const token of await tokensOf(chunks, run)) tokens.add(token)
  expect([...tokens].sort()).toEqual([...modelTokens(transactions)].sort())
}

/** All rows of the token section, with the addresses of their contracts. */
async function tokensOf(chunks: MemoryChunks, run: Run): Promise<readonly string[]> {
  const contracts: string[] = []
  const named = new SectionScan(chainId, sections.contract, run)
  while (await named.nextGroup(chunks)) {
    while (named.rows.nextRow()) contracts.push(hexAt(named.rows.bytes, named.rows.value, 20))
  }
  expect(contracts).toEqual([...contracts].sort())
  const found: string[] = []
  const scan = new SectionScan(chainId, sections.token, run)
  while (await scan.nextGroup(chunks)) {
    const { rows } = scan
    const group = Buffer.from(rows.group.slice(0, rows.groupLength))
    const token = `${hexAt(group, 0, 20)} ${contracts[group.readUInt32BE(20)]} ${group.subarray(24).toString('hex')}`
    while (rows.nextRow()) found.push(`${token} ${rows.id} ${rows.bytes[rows.value]}`)
  }
  return found
}

function modelTokens(transactions: readonly ModelTransaction[]): ReadonlySet<string> {
  const rolesOf = new Map<string, number>()
  for (const each of transactions) {
    for (const { owner, contract, tokenId, roles } of each.tokens) {
      const ids = Buffer.concat([Buffer.of(tokenId === undefined ? 1 : 2), tokenKey(tokenId)]).toString('hex')
      const token = `${accountBytes(owner).toString('hex')} ${accountBytes(contract).toString('hex')} ${ids} ${idOf(each)}`
      rolesOf.set(token, (rolesOf.get(token) ?? 0) | roles)
    }
  }
  return new Set([...rolesOf].map(([token, roles]) => `${token} ${roles}`))
}

function hexAt(bytes: Uint8Array, at: number, length: number): string {
  return Buffer.from(bytes.slice(at, at + length)).toString('hex')
}
