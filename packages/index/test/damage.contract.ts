import { expect, test } from 'vitest'
import type { IndexedBlock } from '../src/model/evm.ts'
import { type Damage, IndexDamagedError } from '../src/platform/errors.ts'
import type { ReplaceOutcome, StoreWriter } from '../src/port/writer.ts'
import { encodeBlock } from '../src/record/encodeBlock.ts'
import { packBlocks } from '../src/record/packBlocks.ts'
import type { Chunk } from '../src/runs/chunk.ts'
import { type Section, sectionList } from '../src/runs/sections.ts'
import type { Row } from '../src/runs/Transaction.ts'
import { walkIndex } from '../src/walkIndex.ts'
import { buildChain, people } from './buildChain.ts'
import { commitChain } from './commitChain.ts'
import { createNumbers } from './createNumbers.ts'
import { withSnapshot } from './readAll.ts'
import { type Answers, readAnswers, refusedOf } from './readAnswers.ts'
import type { DamageableStore, OpenStore, StoreLayout } from './store.contract.ts'
import { useStores } from './useStore.ts'

const seed = Number(process.env.CHAIN_DATA_SEED ?? 1)

/** Everyone has a part in many transactions, and many tokens: sections have several chunks. */
const blocks = buildChain(
  Array.from({ length: 20 }, (_, block) =>
    Array.from({ length: 6 }, (_, i) => {
      const parties = [0, 1, 3].map(step => people[(block + 2 * i + step) % people.length] ?? '0x')
      const [owner = '0x', contract = '0x'] = parties
      return {
        name: `${block}/${i}`,
        parties,
        candidates: [
          { owner, contract, standard: 'erc20' as const },
          { owner, contract, standard: 'erc721' as const, tokenId: BigInt(block * 1_000 + i) }
        ]
      }
    })
  )
)

/** One run has ten blocks, one has two, and the others have one each. */
const batches = [blocks.slice(0, 10), blocks.slice(10, 12), ...blocks.slice(12).map(block => [block])]

/** Tables of rows by their keys, each with a column of bytes that are checked. */
const tables = [
  { table: 'tx', key: 'id', column: 'rec', part: 'record' },
  { table: 'block', key: 'number', column: 'hash', part: 'block' },
  { table: 'block_extra', key: 'number', column: 'rec', part: 'event' },
  { table: 'run', key: 'number', column: 'rec', part: 'manifest' }
] as const
type Table = (typeof tables)[number]

interface KeyedRow {
  readonly key: number
  readonly bytes: Uint8Array
}

async function rowsOf(store: DamageableStore, { table, key, column }: Table): Promise<readonly KeyedRow[]> {
  const rows = await store.run(`SELECT ${key} AS key, ${column} AS bytes FROM ${table} ORDER BY ${key}`)
  return rows.map(({ key: value, bytes }) => ({ key: Number(value), bytes: bytes as Uint8Array }))
}

async function setBytes(store: DamageableStore, { table, key, column }: Table, row: KeyedRow): Promise<void> {
  await store.run(`UPDATE ${table} SET ${column} = ? WHERE ${key} = ?`, [row.bytes, row.key])
}

async function numbersIn(store: DamageableStore, table: 'run' | 'dropped_run'): Promise<readonly number[]> {
  const rows = await store.run(`SELECT number FROM ${table} ORDER BY number`)
  return rows.map(({ number }: Row) => Number(number))
}

/** Chunks of the runs of the manifest. */
async function liveChunks(store: DamageableStore): Promise<readonly Chunk[]> {
  const runs = await numbersIn(store, 'run')
  return (await store.chunks()).filter(({ run }) => runs.includes(run))
}

/** Asks through a reader that knows nothing of before. */
async function ask(store: DamageableStore): Promise<Answers> {
  const reader = await store.openReader()
  const answers = await readAnswers(reader, blocks)
  await reader.close()
  return answers
}

/** Checks the whole store. @returns each damage once. */
async function findDamage(store: DamageableStore): Promise<readonly Damage[]> {
  const reader = await store.openReader()
  const found = new Map<string, Damage>()
  for await (const { damage } of walkIndex(reader))
    for (const each of damage) found.set(JSON.stringify(each), each)
  await reader.close()
  return [...found.values()]
}

function replace(writer: StoreWriter, block: IndexedBlock): Promise<ReplaceOutcome> {
  return writer.replaceBlock(packBlocks([encodeBlock(block)]))
}

/** Heals as an indexer does: blocks from the node, everything else by the writer. */
async function heal(store: DamageableStore, writer: StoreWriter): Promise<void> {
  const repair = async (damage: Damage): Promise<void> => {
    try {
      if (damage.block === undefined) await writer.repair(damage)
      else expect(await replace(writer, blocks[damage.block] as IndexedBlock)).toBe('replaced')
    } catch (error) {
      if (!(error instanceof IndexDamagedError)) throw error
      await repair(error.damage)
      await repair(damage)
    }
  }
  for (let damage = await findDamage(store); damage.length > 0; damage = await findDamage(store)) {
    for (const each of damage) await repair(each)
  }
}

function expectTrue(found: Answers, truth: Answers, name: string): void {
  for (const [question, answer] of found) {
    if (typeof answer === 'string') expect(answer, `${question} after ${name}`).toBe(truth.get(question))
  }
}

function flipped(bytes: Uint8Array, next: (below: number) => number): Uint8Array {
  const changed = Uint8Array.from(bytes)
  const at = next(changed.length)
  changed[at] = (changed[at] ?? 0) ^ (1 << next(8))
  return changed
}

function pick<T>(list: readonly T[], next: (below: number) => number): T {
  const picked = list[next(list.length)]
  if (picked === undefined) throw new Error('there is nothing to pick from')
  return picked
}

/** Damage of all kinds: met by the reads that need what is damaged, and healed. */
export function describeDamage(open: OpenStore<DamageableStore>, share = 1): void {
  const { start } = useStores(open)

  /** A store of all blocks, with its answers. */
  const startWhole = async (layout: Partial<StoreLayout> = { maxRuns: 100, resealTransactions: 40 }) => {
    const { store, writer } = await start(layout)
    for (const batch of batches) await commitChain(writer, batch)
    const truth = await ask(store)
    expect(refusedOf(truth)).toEqual([])
    return { store, writer, truth, dump: await store.dump() }
  }

  test(`whatever bit of a row or a chunk is flipped, every answer is true or refused (CHAIN_DATA_SEED=${seed})`, async () => {
    const { store, truth } = await startWhole()
    const next = createNumbers(seed)
    const chunks = await liveChunks(store)
    const noticed = new Set<string>()
    for (let flip = 0; flip < Math.max(30, 200 * share); flip++) {
      const table = tables[next(tables.length + 4)]
      let name = table?.table ?? ''
      let putBack: () => Promise<void>
      if (table === undefined) {
        const chunk = pick(chunks, next)
        const isBound = chunk.lower.length > 0 && next(8) === 0
        name = `${sectionList[chunk.section]?.name}${isBound ? ' bound' : ''}`
        await store.putChunk(
          isBound
            ? { ...chunk, lower: flipped(chunk.lower, next) }
            : { ...chunk, bytes: flipped(chunk.bytes, next) }
        )
        putBack = () => store.putChunk(chunk)
      } else {
        const row = pick(await rowsOf(store, table), next)
        await setBytes(store, table, { ...row, bytes: flipped(row.bytes, next) })
        putBack = () => setBytes(store, table, row)
      }
      const found = await ask(store)
      expectTrue(found, truth, `flip ${flip} in ${name}`)
      if (refusedOf(found).length > 0) noticed.add(name)
      expect(await findDamage(store), `flip ${flip} in ${name}`).not.toEqual([])
      await putBack()
    }
    expect([...noticed]).toEqual(expect.arrayContaining(['tx', 'block', 'run', 'address']))
    expect(await ask(store)).toEqual(truth)
    expect(await findDamage(store)).toEqual([])
  })

  /** A whole store whose runs were all written again, and the ways in which a chunk of it may be wrong. */
  const startWithChunks = async () => {
    const whole = await startWhole()
    const { store, writer } = whole
    const earlier = await liveChunks(store)
    for (const run of await numbersIn(store, 'run')) await writer.repair({ part: 'chunk', run })
    const runs = await numbersIn(store, 'run')
    expect(earlier.filter(({ run }) => runs.includes(run))).toEqual([])
    const other = (chunk: Chunk, chunks: readonly Chunk[]) =>
      chunks.find(
        ({ run, section, number }) =>
          section === chunk.section && (run !== chunk.run || number !== chunk.number)
      )?.bytes ?? new Uint8Array(9)
    const ways = {
      lost: (chunk: Chunk) => store.loseChunk(chunk),
      cut: (chunk: Chunk) => store.putChunk({ ...chunk, bytes: chunk.bytes.subarray(0, -5) }),
      emptied: (chunk: Chunk) => store.putChunk({ ...chunk, bytes: new Uint8Array(0) }),
      swapped: async (chunk: Chunk) =>
        store.putChunk({ ...chunk, bytes: other(chunk, await liveChunks(store)) }),
      stale: async (chunk: Chunk) => store.putChunk({ ...chunk, bytes: other(chunk, earlier) })
    }
    return { ...whole, ways }
  }

  /** Damages a chunk: some answers are refused, all others are true, and a check names the chunk. */
  const expectMet = async (
    { store, truth, ways }: Awaited<ReturnType<typeof startWithChunks>>,
    way: keyof typeof ways,
    chunk: Chunk
  ) => {
    const name = `${way} chunk ${chunk.number} of section ${chunk.section} of run ${chunk.run}`
    await ways[way](chunk)
    const found = await ask(store)
    expectTrue(found, truth, name)
    expect(refusedOf(found).length, name).toBeGreaterThan(0)
    const named = { part: 'chunk', run: chunk.run, section: chunk.section }
    expect(await findDamage(store), name).toEqual([expect.objectContaining(named)])
    return name
  }

  const pickChunk = async (store: DamageableStore, section: Section, next: (below: number) => number) =>
    pick(
      (await liveChunks(store)).filter(each => each.section === section.number),
      next
    )

  test('a chunk that is lost, altered, swapped, or left of an earlier run is met, and its run is written again', async () => {
    const whole = await startWithChunks()
    const { store, writer, truth, dump } = whole
    const next = createNumbers(seed)
    for (const [at, way] of (['lost', 'cut', 'emptied', 'swapped', 'stale'] as const).entries()) {
      // Where a store takes long, each way meets two of the sections, and the ways together all of them.
      for (const section of sectionList.filter(({ number }) => share >= 1 / 8 || (number + at) % 3 === 0)) {
        const chunk = await pickChunk(store, section, next)
        const name = await expectMet(whole, way, chunk)
        await heal(store, writer)
        expect(await ask(store), name).toEqual(truth)
        expect(await numbersIn(store, 'run'), name).not.toContain(chunk.run)
      }
    }
    expect(await store.dump()).toBe(dump)
  })

  const lostChunks = process.env.CHAOS === 'full' ? Math.ceil(1_000 * share) : 6
  test(
    `of ${lostChunks} chunks that are lost, swapped, or left of an earlier run, none gives a wrong answer (CHAIN_DATA_SEED=${seed})`,
    async () => {
      const whole = await startWithChunks()
      const { store, truth } = whole
      const next = createNumbers(seed)
      for (let n = 0; n < lostChunks; n++) {
        const chunk = await pickChunk(store, pick(sectionList, next), next)
        await expectMet(whole, pick(['lost', 'swapped', 'stale'] as const, next), chunk)
        await store.putChunk(chunk)
      }
      expect(await ask(store)).toEqual(truth)
    },
    60_000 + lostChunks * 5_000
  )

  test.each(tables)('a row of $table that is lost or altered is met, and healed', async table => {
    const { store, writer, truth, dump } = await startWhole()
    const next = createNumbers(seed)
    for (const way of ['lost', 'altered', 'emptied']) {
      // Whoever asks for events reads what records lack; of blocks without events only runs are sealed by it.
      const isRead = ({ key }: KeyedRow) => table.part !== 'event' || (blocks[key]?.events ?? []).length > 0
      const row = pick((await rowsOf(store, table)).filter(isRead), next)
      if (way === 'lost') await store.run(`DELETE FROM ${table.table} WHERE ${table.key} = ?`, [row.key])
      else {
        const bytes = way === 'emptied' ? new Uint8Array(0) : flipped(row.bytes, next)
        await setBytes(store, table, { ...row, bytes })
      }
      const found = await ask(store)
      expectTrue(found, truth, `${way} ${row.key}`)
      expect(refusedOf(found), way).not.toEqual([])
      expect(await findDamage(store), way).toEqual([expect.objectContaining({ part: table.part })])
      await heal(store, writer)
      expect(await ask(store), way).toEqual(truth)
      expect(await store.dump(), way).toBe(dump)
    }
  })

  test('damage of many kinds at once is healed, and the store goes on as if nothing had been', async () => {
    const { store, writer, truth, dump } = await startWhole()
    const next = createNumbers(seed)
    for (const table of tables) {
      for (const row of (await rowsOf(store, table)).filter(() => next(4) === 0)) {
        await setBytes(store, table, { ...row, bytes: flipped(row.bytes, next) })
      }
    }
    for (const chunk of (await store.chunks()).filter(() => next(4) === 0)) await store.loseChunk(chunk)
    expectTrue(await ask(store), truth, 'much damage')
    await heal(store, writer)
    expect(await ask(store)).toEqual(truth)
    expect(await store.dump()).toBe(dump)
    await writer.rollbackTo(blocks[4]!.ref)
    await commitChain(writer, blocks.slice(5))
    expect(await ask(store)).toEqual(truth)
  })

  test('the newest block is healed when nothing of it is left', async () => {
    const { store, writer, truth, dump } = await startWhole()
    const newest = blocks.at(-1)!.ref.number
    await store.run('DELETE FROM block WHERE number = ?', [newest])
    await store.run('DELETE FROM block_extra WHERE number = ?', [newest])
    await store.run('DELETE FROM tx WHERE id >= ?', [newest * 65_536])
    expectTrue(await ask(store), truth, 'the loss of the newest block')
    await heal(store, writer)
    expect(await ask(store)).toEqual(truth)
    expect(await store.dump()).toBe(dump)
  })

  /** Has another block be the newest one for a while. @returns the row of the run that it had. */
  const passFork = async (store: DamageableStore, writer: StoreWriter): Promise<KeyedRow> => {
    const parent = blocks[18]!.ref
    await writer.rollbackTo(parent)
    const other = [{ name: 'other', parties: people.slice(0, 3) }]
    await commitChain(writer, buildChain([other], { parent, fork: 'other' }))
    const gone = (await rowsOf(store, tables[3])).at(-1)!
    await writer.rollbackTo(parent)
    await commitChain(writer, blocks.slice(19))
    return gone
  }

  test('a manifest is written again by what is left of it, and nothing else stays', async () => {
    const { store, writer, truth } = await startWhole()
    const before = await rowsOf(store, tables[3])
    // Merged runs, and a run of a chain that is gone: their rows come back.
    const gone = await passFork(store, writer)
    for (const run of (await numbersIn(store, 'run')).slice(0, 3)) await writer.repair({ part: 'chunk', run })
    const now = await rowsOf(store, tables[3])
    const insert = (row: KeyedRow) =>
      store.run('INSERT INTO run (number, rec) VALUES (?, ?)', [row.key, row.bytes])
    await store.run('DELETE FROM run WHERE number = ?', [now[4]!.key])
    await store.run('DELETE FROM dropped_run')
    await insert(gone)
    for (const row of before.filter(({ key }) => now.every(each => each.key !== key))) await insert(row)
    expect(await findDamage(store)).toEqual([{ part: 'manifest' }])
    await writer.close()
    const again = await store.openWriter()
    const more = buildChain([[{ name: 'more', parties: people.slice(0, 2) }]], { parent: blocks[19]!.ref })
    await expect(commitChain(again, more)).rejects.toBeInstanceOf(IndexDamagedError)
    await heal(store, again)
    expect(await ask(store)).toEqual(truth)
    await expectNoStrays(store)
    await commitChain(again, more)
  })

  test.each(['record', 'chunk', 'row of its run'])(
    'a reorg remembers a transaction whose %s is lost',
    async lost => {
      const { store, writer } = await startWhole()
      const [run = 0] = (await numbersIn(store, 'run')).slice(-1)
      const [chunk] = (await liveChunks(store)).filter(each => each.run === run && each.section === 1)
      if (lost === 'record') await store.run('DELETE FROM tx WHERE id >= ?', [19 * 65_536])
      else if (lost === 'chunk') await store.loseChunk(chunk!)
      else await store.run('DELETE FROM run WHERE number = ?', [run])
      const kept = blocks[18]!.ref
      await writer.rollbackTo(kept)
      await writer.repair({ part: 'manifest' })
      const reader = await store.openReader()
      await withSnapshot(reader, async snapshot => {
        for (const { transaction } of blocks[19]!.transactions) {
          const found = await snapshot.lookUpHash(transaction.hash)
          expect(found).toEqual({ kind: 'reorged', commonAncestor: kept })
        }
      })
      await reader.close()
    }
  )

  test('a row of a run of a chain that is gone does not come into a manifest again, even where that of its successor is lost', async () => {
    const { store, writer, truth } = await startWhole()
    const gone = await passFork(store, writer)
    await store.run('DELETE FROM run WHERE number > ?', [gone.key])
    await store.run('INSERT INTO run (number, rec) VALUES (?, ?)', [gone.key, gone.bytes])
    await store.run('DELETE FROM dropped_run')
    await heal(store, writer)
    expect(await ask(store)).toEqual(truth)
    await expectNoStrays(store)
  })

  test('a row of a block of a chain that is gone is met when it comes back, and healed', async () => {
    const { store, writer, truth, dump } = await startWhole()
    const fork = buildChain([[], [], []], { parent: blocks[16]!.ref, fork: 'other' })
    const keys = ['hash', 'parent_hash', 'timestamp_seconds', 'tx_count', 'extra', 'sum']
    for (const [number, other] of [fork[1]!, fork[2]!].map(({ ref }) => [ref.number, ref] as const)) {
      await writer.rollbackTo(blocks[16]!.ref)
      await commitChain(writer, fork)
      const [stale = {}] = await store.run('SELECT * FROM block WHERE number = ?', [other.number])
      await writer.rollbackTo(blocks[16]!.ref)
      await commitChain(writer, blocks.slice(17))
      const values = keys.map(key => stale[key] ?? null)
      const set = keys.map(key => `${key} = ?`).join(', ')
      await store.run(`UPDATE block SET ${set} WHERE number = ?`, [...values, number])
      expect(await findDamage(store)).toContainEqual({ part: 'block', block: number })
      await heal(store, writer)
      expect(await ask(store)).toEqual(truth)
      expect(await store.dump()).toBe(dump)
    }
  })

  test.each(['block', 'block_extra', 'tx'])(
    'rows of %s that come back above the newest block, or below the first one, give way to the blocks there',
    async table => {
      const { store, writer, truth } = await startWhole()
      const key = table === 'tx' ? 'id' : 'number'
      const idsEach = table === 'tx' ? 65_536 : 1
      const found = `SELECT * FROM ${table} WHERE ${key} >= ? ORDER BY ${key} LIMIT 1`
      const [row = {}] = await store.run(found, [10 * idsEach])
      const height = Math.floor(Number(row[key]) / idsEach)
      const comeBack = () =>
        store.run(
          `INSERT INTO ${table} (${Object.keys(row).join(', ')}) VALUES (${Object.keys(row).map(() => '?')})`,
          Object.values(row)
        )
      await writer.rollbackTo(blocks[height - 1]!.ref)
      await comeBack()
      await commitChain(writer, blocks.slice(height))
      expect(await ask(store)).toEqual(truth)
      await writer.rollbackAll()
      await commitChain(writer, blocks.slice(height + 1))
      await comeBack()
      await writer.prependBlocks(packBlocks(blocks.slice(0, height + 1).map(encodeBlock)))
      expect(await ask(store)).toEqual(truth)
    }
  )

  test('blocks that are committed while a run is written again come between its pieces', async () => {
    const { store, writer, truth } = await startWhole({ maxRuns: 100, resealTransactions: 1 })
    const [run = 0] = await numbersIn(store, 'run')
    const later = Array.from({ length: 3 }, (_, i) => [{ name: `later ${i}`, parties: people.slice(0, 4) }])
    const more = buildChain(later, { parent: blocks[19]!.ref })
    const done: string[] = []
    const repair = writer.repair({ part: 'chunk', run }).then(() => done.push('repair'))
    for (const block of more) await commitChain(writer, [block])
    done.push('commits')
    await repair
    expect(done).toEqual(['commits', 'repair'])
    expect(await numbersIn(store, 'run')).not.toContain(run)
    await writer.rollbackTo(blocks[19]!.ref)
    expect(await ask(store)).toEqual(truth)
    expect(await findDamage(store)).toEqual([])
  })

  test('a writer that dies while it merges or seals again leaves nothing of its unfinished runs', async () => {
    // Each commit does one piece of a merge, and few merges are complete before the next reopening.
    const layout = { maxRuns: 0, mergeFactor: 2, unmergedBlocks: 0, pieceRows: 40 }
    const next = createNumbers(seed)
    const later = Array.from({ length: 20 }, (_, i) => [{ name: `later ${i}`, parties: people.slice(0, 4) }])
    const chain = [...blocks, ...buildChain(later, { parent: blocks[19]!.ref })]
    const { store, writer: first } = await start(layout)
    let writer = first
    let merged = 0
    let unfinished = new Set<number>()
    for (const block of chain) {
      const runs = (await numbersIn(store, 'run')).length
      await commitChain(writer, [block])
      if ((await numbersIn(store, 'run')).length <= runs) merged++
      await expectNoStrays(store)
      if (next(4) > 0) continue
      // What a merge has in memory is lost. What it has stored is not in the manifest.
      await writer.close()
      writer = await store.openWriter()
      unfinished = new Set([...unfinished, ...(await numbersIn(store, 'dropped_run'))])
    }
    expect(merged).toBeGreaterThan(3)
    expect(unfinished.size).toBeGreaterThan(3)
    const never = await start({ maxRuns: 100 })
    await commitChain(never.writer, chain)
    const truth = await ask(never.store)
    expect(await ask(store)).toEqual(truth)
    expect(await findDamage(store)).toEqual([])
    expect((await numbersIn(store, 'run')).filter(run => unfinished.has(run))).toEqual([])
    let parent = chain.at(-1)!.ref
    for (let i = 0; i < 100 && (await unfinishedChunks(store, unfinished)) > 0; i++) {
      const more = buildChain([[{ name: `more ${i}`, parties: people.slice(0, 2) }]], { parent })
      await commitChain(writer, more)
      parent = more[0]!.ref
    }
    expect(await unfinishedChunks(store, unfinished)).toBe(0)
  })
}

/** All chunks are of runs of the manifest, or are to be removed. */
async function expectNoStrays(store: DamageableStore): Promise<void> {
  const named = [...(await numbersIn(store, 'run')), ...(await numbersIn(store, 'dropped_run'))]
  expect((await store.chunks()).filter(({ run }) => !named.includes(run))).toEqual([])
}

async function unfinishedChunks(store: DamageableStore, unfinished: ReadonlySet<number>): Promise<number> {
  return (await store.chunks()).filter(({ run }) => unfinished.has(run)).length
}
