import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { buildChain, hashOf, people, poolTransaction } from '../../test/buildChain.ts'
import type { Hash } from '../model/evm.ts'
import { type Damage, IndexDamagedError, StoreError } from '../platform/errors.ts'
import { entryKinds } from '../record/changeEntries.ts'
import { deriveRows } from '../record/deriveRows.ts'
import { encodeBlock } from '../record/encodeBlock.ts'
import { addressBytes, hashBytes, toHex } from '../record/hexBytes.ts'
import { packBlocks } from '../record/packBlocks.ts'
import { sealRecords } from '../record/recordSums.ts'
import { firstTransactionId, toPosition } from '../record/transactionId.ts'
import type { Value, WritableStore, WriteTransaction } from '../runs/Transaction.ts'
import {
  deleteAllBlocks,
  deleteBlocks,
  insertBlocks,
  readBlock,
  readBlockRange,
  readRange
} from './blocks.ts'
import type { LogRow } from './ChangeLog.ts'
import { createLogRows, createReplay, writeLog } from './changes.ts'
import { MetaEdit, readMeta, writeIdentity } from './meta.ts'
import { Pool, type PoolWrite } from './Pool.ts'
import { createPoolRows, deletePool, readPending, writePool } from './poolTables.ts'
import { findReorged, forgetDamagedReorged, forgetReorged, hasReorged, rememberReorged } from './reorged.ts'
import { readReport, writeReport } from './report.ts'
import { toPending, toWriterReport } from './rows.ts'
import { createStoredRows } from './storedRows.ts'

const chainId = 31337
const identity = { chainId, genesisHash: hashOf('genesis') }
const refOf = (number: number) => ({ number, hash: hashOf(`block ${number}`) })
// Keys of the first two are counted together, those of the third are not.
const [alice = '0x', bob = '0x', , carol = '0x'] = people

/** What is written once for every engine above its transactions. @param open - an index with empty tables. */
export function describeHead(name: string, open: () => Promise<WritableStore>): void {
  describe(`head of the index ${name}`, () => {
    let store: WritableStore
    beforeEach(async () => {
      store = await open()
    })
    afterEach(() => store.close())

    const begin = () => store.write(each => writeIdentity(each, identity))
    const run = (text: string, values?: readonly Value[]) => store.write(each => each.run(text, values))
    const edit = (change: (meta: MetaEdit) => void) =>
      store.write(async each => {
        const meta = await MetaEdit.load(each)
        change(meta)
        await meta.save()
      })
    const damageOf = async (read: Promise<unknown>): Promise<Damage> => {
      const error = await read.then(
        () => 'it was not refused',
        (reason: unknown) => reason
      )
      if (error instanceof IndexDamagedError) return error.damage
      throw error
    }

    describe('meta', () => {
      it('of a new index: no block, settled, not backfilled', async () => {
        await expect(readMeta(store.reads)).rejects.toThrow(StoreError)
        await begin()
        const meta = await readMeta(store.reads)
        expect(meta).toEqual({
          identity,
          marks: { backfilled: false, settled: true, degraded: false },
          coverage: {},
          rollbacks: expect.any(Number),
          changes: { log: expect.stringMatching(/^[0-9a-f]{16}$/), from: 0, to: 0 },
          runs: { version: expect.any(Number), sum: 0, next: 1 }
        })
      })

      it('is written once for all changes of a transaction, and not at all without one', async () => {
        await begin()
        const written = await store.write(async each => {
          const texts: string[] = []
          const counted: WriteTransaction = {
            ...each,
            run: (text, values) => {
              texts.push(text)
              return each.run(text, values)
            }
          }
          const meta = await MetaEdit.load(counted)
          meta.mark('settled')
          await meta.save()
          expect(texts).toEqual([])
          meta.setIndexedFrom(3)
          meta.setHead(refOf(9))
          meta.setCoverage({ tracedFrom: 4, rootsFrom: 6 })
          meta.mark('backfilled')
          meta.setFinal(7)
          meta.setLog({ from: 11, to: 12 })
          meta.setRuns({ version: 21, sum: 22, next: 23 })
          await meta.save()
          await meta.save()
          expect(texts).toHaveLength(1)
          return meta.meta
        })
        expect(written).toMatchObject({
          ...{ indexedFrom: 3, head: refOf(9) },
          marks: { backfilled: true, settled: true, degraded: false, finalized: 7 },
          coverage: { tracedFrom: 4, rootsFrom: 6 },
          changes: { from: 11, to: 12 },
          runs: { version: 21, sum: 22, next: 23 }
        })
        expect(await readMeta(store.reads)).toEqual(written)
      })

      it('has no final block below the first stored one, and none that is final no more', async () => {
        await begin()
        const finalAfter = async (number: number) => {
          await edit(meta => meta.setFinal(number))
          return (await readMeta(store.reads)).marks.finalized
        }
        expect(await finalAfter(5)).toBeUndefined()
        await edit(meta => meta.setIndexedFrom(3))
        expect(await finalAfter(2)).toBeUndefined()
        expect(await finalAfter(3)).toBe(3)
        expect(await finalAfter(6)).toBe(6)
        expect(await finalAfter(4)).toBe(6)
      })

      it('is degraded from the removal of final blocks until their height is final again', async () => {
        await begin()
        const marksAfter = async (change: (meta: MetaEdit) => void) => {
          await edit(change)
          return (await readMeta(store.reads)).marks
        }
        const left = { backfilled: false, settled: false }
        await edit(meta => meta.setIndexedFrom(0))
        await edit(meta => meta.setFinal(5))
        expect(await marksAfter(meta => meta.leave(5, 8))).toEqual({ ...left, degraded: false, finalized: 5 })
        expect(await marksAfter(meta => meta.leave(4, 8))).toEqual({ ...left, degraded: true, finalized: 4 })
        expect(await marksAfter(meta => meta.leave(2, 6))).toEqual({ ...left, degraded: true, finalized: 2 })
        expect(await marksAfter(meta => meta.setFinal(7))).toMatchObject({ degraded: true, finalized: 7 })
        expect(await marksAfter(meta => meta.setFinal(8))).toMatchObject({ degraded: false, finalized: 8 })
        expect(await marksAfter(meta => meta.leave(undefined, 9))).toEqual({ ...left, degraded: true })
      })

      it('counts rollbacks from the microseconds since 1970 on, and each by one at least', async () => {
        const before = Date.now() * 1000
        await begin()
        const rollbacks = async () => (await readMeta(store.reads)).rollbacks
        expect(await rollbacks()).toBeGreaterThanOrEqual(before)
        let last = await rollbacks()
        for (let i = 0; i < 5; i++) {
          await edit(meta => meta.leave(0, 1))
          expect(await rollbacks()).toBeGreaterThan(last)
          last = await rollbacks()
        }
      })

      it('keeps chain, log and rollbacks when all blocks are forgotten', async () => {
        await begin()
        const empty = await readMeta(store.reads)
        await edit(meta => {
          meta.setIndexedFrom(0)
          meta.setHead(refOf(4))
          meta.setCoverage({ tracedFrom: 0, rootsFrom: 0 })
          meta.mark('backfilled')
        })
        await edit(meta => meta.forgetBlocks())
        expect(await readMeta(store.reads)).toEqual(empty)
        await edit(meta => meta.unsettle())
        expect((await readMeta(store.reads)).marks.settled).toBe(false)
      })

      it.each(['head = 7', 'settled = 0', 'next_run = 2', 'chain_id = 1', 'sum = NULL'])(
        'that is altered (%s) is neither read nor written',
        async change => {
          await begin()
          await run(`UPDATE meta SET ${change}`)
          expect(await damageOf(readMeta(store.reads))).toEqual({ part: 'meta' })
          expect(await damageOf(edit(meta => meta.setHead(refOf(8))))).toEqual({ part: 'meta' })
        }
      )
    })

    it('gives the rows of stored blocks that their commit derived', async () => {
      const chain = buildChain(
        [[3, 0], [], [2], [1, 1, 4], []].map((parties, block) =>
          parties.map((count, index) => ({
            name: `${index} of ${block}`,
            parties: people.slice(block, block + count + 1),
            candidates: [{ owner: carol, contract: alice, standard: 'erc20' }],
            gap: 1_000 * index
          }))
        ),
        { firstNumber: 10 }
      )
      const packed = packBlocks(chain.map(encodeBlock))
      sealRecords(chainId, packed)
      await begin()
      await store.write(async each => {
        const meta = await MetaEdit.load(each)
        meta.setIndexedFrom(10)
        meta.setHead(chain[4]?.ref ?? refOf(14))
        await insertBlocks(each, chainId, packed)
        await each.putRecords(packed.ids, packed.records, packed.recordEnds)
        await meta.save()
      })
      for (const [from, to] of [
        [10, 14],
        [11, 13],
        [12, 12],
        [14, 14]
      ] as const) {
        const { lastHash, ...rows } = await createStoredRows(chainId).rowsOf(store.reads, from, to)
        expect(toHex(lastHash)).toBe(chain[to - 10]?.ref.hash)
        const derived = deriveRows(from, packBlocks(chain.slice(from - 10, to - 9).map(encodeBlock)))
        expect(rows).toEqual(derived)
      }
    })

    describe('blocks', () => {
      const chain = buildChain(
        [1, 2, 3, 4].map(block => [
          { name: `of ${block}`, parties: [alice, bob] },
          { name: `another of ${block}`, parties: [alice] }
        ]),
        { firstNumber: 10 }
      )
      const packed = packBlocks(chain.map(encodeBlock))
      const extra = Buffer.from('events')

      beforeEach(async () => {
        sealRecords(chainId, packed)
        await store.write(async each => {
          await writeIdentity(each, identity)
          const meta = await MetaEdit.load(each)
          meta.setIndexedFrom(10)
          meta.setHead(chain[3]?.ref ?? refOf(13))
          // Only block 11 has extra bytes.
          const extraEnds = Uint32Array.of(0, extra.length, extra.length, extra.length)
          await insertBlocks(each, chainId, { ...packed, extras: extra, extraEnds })
          await each.putRecords(packed.ids, packed.records, packed.recordEnds)
          await meta.save()
        })
      })
      const block = async (number: number) => readBlock(store.reads, await readMeta(store.reads), number)
      const extras = async (first: number, last: number) =>
        (await readBlockRange(store.reads, await readMeta(store.reads), first, last)).flatMap(
          ({ number, extra }): [number, Uint8Array][] => (extra === undefined ? [] : [[number, extra]])
        )

      it('are read inside of the stored range', async () => {
        const [, , third, newest] = chain
        expect(await block(12)).toEqual({
          ...{ ref: third?.ref, parentHash: third?.parentHash },
          ...{ timestampSeconds: third?.timestampSeconds, transactionCount: 2 }
        })
        expect(await block(9)).toBeUndefined()
        expect(await block(14)).toBeUndefined()
        expect(await readRange(store.reads, await readMeta(store.reads))).toEqual({
          ...{ from: 10, to: newest?.ref, toTimestampSeconds: newest?.timestampSeconds }
        })
      })

      it('are absent while there is no range', async () => {
        await edit(meta => meta.forgetBlocks())
        expect(await block(12)).toBeUndefined()
        expect(await readRange(store.reads, await readMeta(store.reads))).toBeUndefined()
      })

      it('have the extra bytes that they were stored with', async () => {
        const found = await extras(10, 13)
        expect([...found].map(([number, bytes]) => [number, Buffer.from(bytes)])).toEqual([[11, extra]])
        expect(await extras(12, 13)).toEqual([])
      })

      it.each([
        ['UPDATE block SET tx_count = 1 WHERE number = 11', 'block'],
        ['UPDATE block SET number = 20 WHERE number = 11', 'block'],
        ['UPDATE block SET extra = NULL WHERE number = 11', 'block'],
        ['DELETE FROM block WHERE number = 11', 'block'],
        ['DELETE FROM block_extra WHERE number = 11', 'event'],
        ['UPDATE block_extra SET number = 12 WHERE number = 11', 'event']
      ] as const)('are refused after %s', async (change, part) => {
        await run(change)
        const damage = { part, block: 11 }
        if (part === 'block') expect(await damageOf(block(11))).toEqual(damage)
        expect(await damageOf(extras(10, 13))).toEqual(damage)
        expect(await block(10)).toBeDefined()
      })

      it('are refused where their extra bytes are altered', async () => {
        await run('UPDATE block_extra SET rec = ?', [Buffer.from('Events')])
        expect(await damageOf(extras(11, 11))).toEqual({ part: 'event', block: 11 })
      })

      it('leave nothing behind when they are deleted', async () => {
        const left = async () => {
          const numbers = await store.reads.all<{ number: number }>('SELECT number FROM block ORDER BY 1')
          const ids = await store.reads.all<{ id: number }>('SELECT id FROM tx ORDER BY 1')
          const others = await store.reads.all('SELECT number FROM block_extra')
          return [
            numbers.map(each => each.number),
            ids.map(({ id }) => toPosition(id).blockNumber),
            others.length
          ]
        }
        expect(await left()).toEqual([[10, 11, 12, 13], [10, 10, 11, 11, 12, 12, 13, 13], 1])
        await store.write(each => deleteBlocks(each, 11, 12))
        expect(await left()).toEqual([[10, 13], [10, 10, 13, 13], 0])
        await store.write(each => deleteBlocks(each, 11))
        expect(await left()).toEqual([[10], [10, 10], 0])
        await store.write(deleteAllBlocks)
        expect(await left()).toEqual([[], [], 0])
      })
    })

    describe('transactions that a reorg removed', () => {
      const names = (count: number) => Array.from({ length: count }, (_, i) => `of ${i}`)
      const bytesOf = (names: readonly string[]) => names.map(each => hashBytes(hashOf(each)))
      const remember = (names: readonly string[], ancestor: number) =>
        store.write(each => rememberReorged(each, chainId, bytesOf(names), refOf(ancestor)))
      const forget = (names: readonly string[]) => store.write(each => forgetReorged(each, bytesOf(names)))
      const find = (name: string) => findReorged(store.reads, chainId, hashOf(name))

      it('lead to the ancestor of the newest reorg that removed them', async () => {
        expect(await hasReorged(store.reads)).toBe(false)
        await remember(['a', 'b', 'b'], 5)
        await remember(['b', 'c'], 7)
        expect(await hasReorged(store.reads)).toBe(true)
        expect([await find('a'), await find('b'), await find('c')]).toEqual([refOf(5), refOf(7), refOf(7)])
        expect(await find('d')).toBeUndefined()
      })

      it('get the ancestor of a deeper reorg, also of one that removes none', async () => {
        await remember(['a'], 5)
        await remember(['b'], 9)
        await remember([], 7)
        expect([await find('a'), await find('b')]).toEqual([refOf(5), refOf(7)])
        await remember(['c'], 3)
        expect([await find('a'), await find('b'), await find('c')]).toEqual([refOf(3), refOf(3), refOf(3)])
      })

      it('are forgotten once a block has them again, however many they are', async () => {
        const many = names(700)
        await remember(many, 5)
        // Listed twice, and among others that are not known.
        await forget([...many.slice(0, 600), 'unknown', ...many.slice(0, 300)])
        expect(await find('of 599')).toBeUndefined()
        expect(await find('of 600')).toEqual(refOf(5))
        await forget(many)
        expect(await hasReorged(store.reads)).toBe(false)
        for (const each of many) expect(await find(each)).toBeUndefined()
      })

      it.each([
        'DELETE FROM reorged WHERE ancestor_number = 5',
        'UPDATE reorged SET ancestor_number = 4 WHERE ancestor_number = 5',
        'UPDATE key_part SET total = total + 1'
      ])('are not taken for unknown ones when they are lost or altered: %s', async change => {
        await remember(['a'], 5)
        await remember(['b'], 7)
        await run(change)
        expect(await damageOf(find('a'))).toEqual({ part: 'undo' })
        await store.write(each => forgetDamagedReorged(each, chainId))
        expect(await find('b')).toEqual(refOf(7))
        expect([undefined, refOf(5)]).toContainEqual(await find('a'))
      })
    })

    describe('the pool', () => {
      const openPool = (confirmed: readonly Hash[] = [], maxFirstSeen?: number) => {
        const rows = createPoolRows(store.reads, chainId, async () => new Set(confirmed))
        const options = { keepFirstSeenBlocks: 256, ...(maxFirstSeen && { maxFirstSeen }) }
        const pool = new Pool(rows, options)
        return async (present: ReturnType<typeof poolTransaction>[], seenAtSeconds = 1, head = 0) => {
          const write = await pool.update({ present, seenAtSeconds, headAfter: head }, head)
          if (write !== undefined) await store.write(each => writePool(each, chainId, write))
        }
      }
      const pending = async (address: typeof alice) => {
        const found = toPending(await readPending(store.reads, chainId, addressBytes(address)))
        return found.map(({ hash, status, firstSeenSeconds }) => [hash, status, firstSeenSeconds])
      }
      const a = poolTransaction('a', [alice, bob])
      const b = poolTransaction('b', [bob, carol])

      it('is found by the addresses that its entries name', async () => {
        const update = openPool([hashOf('mined')])
        await update([a, poolTransaction('mined', [alice])], 5)
        await update([a, b], 6)
        expect(await pending(alice)).toEqual([[a.hash, 1, 5]])
        expect(new Set((await pending(bob)).map(([hash]) => hash))).toEqual(new Set([a.hash, b.hash]))
        expect(await pending(people[7] ?? '0x')).toEqual([])
      })

      it('is what the last update says, in a process that has just started too', async () => {
        await openPool()([a, b], 5)
        await openPool()([{ ...a, status: 0 }], 6)
        expect(await pending(alice)).toEqual([[a.hash, 0, 5]])
        expect(await pending(carol)).toEqual([])
        // Since when it is known is remembered for a while.
        await openPool()([b], 9)
        expect([await pending(alice), await pending(carol)]).toEqual([[], [[b.hash, 1, 5]]])
      })

      it('remembers only so many entries that left, and none that left long ago', async () => {
        const count = async () => (await store.reads.all('SELECT hash FROM first_seen')).length
        const update = openPool([], 3)
        const entries = [1, 2, 3, 4, 5].map(each => poolTransaction(`entry ${each}`, [alice]))
        await update(entries)
        await update(entries.slice(0, 2), 1, 7)
        await update([], 1, 8)
        const left = await store.reads.all<{ left_at: number }>('SELECT left_at FROM first_seen ORDER BY 1')
        expect(left.map(each => each.left_at)).toEqual([7, 8, 8])
        const nothing = { removed: [], changed: [], added: [], returned: [], head: 8 }
        await store.write(each => writePool(each, chainId, { ...nothing, dropLeftBelow: 8 }))
        expect(await count()).toBe(2)
      })

      it('is changed with few reads, however many entries change', async () => {
        const entries = Array.from({ length: 600 }, (_, i) => poolTransaction(`entry ${i}`, [alice, bob]))
        await openPool()(entries)
        expect(await pending(bob)).toHaveLength(600)
        const rows = createPoolRows(store.reads, chainId, async () => new Set())
        const pool = new Pool(rows, { keepFirstSeenBlocks: 256 })
        const left = entries.slice(300).map(each => ({ ...each, status: 0 as const }))
        const write = await pool.update({ present: left, seenAtSeconds: 2, headAfter: 0 }, 0)
        let reads = 0
        await store.write(each => {
          const all: WriteTransaction['all'] = (text, values) => {
            reads++
            return each.all(text, values)
          }
          return writePool({ ...each, all }, chainId, write as PoolWrite)
        })
        expect(reads).toBe(0)
        expect(await pending(alice)).toHaveLength(300)
        expect((await pending(bob)).every(([, status]) => status === 0)).toBe(true)
        await store.write(deletePool)
        expect([await pending(alice), await pending(bob)]).toEqual([[], []])
      })

      it.each([
        'UPDATE pool SET status = 0 WHERE hash = ?',
        'UPDATE pool SET first_seen_seconds = 4 WHERE hash = ?',
        'DELETE FROM pool WHERE hash = ?',
        'DELETE FROM pool_address WHERE pool_id IN (SELECT id FROM pool WHERE hash = ?)'
      ])('is not read where an entry is lost or altered: %s', async change => {
        await openPool()([a, b])
        await run(change, [hashBytes(a.hash)])
        expect(await damageOf(pending(alice))).toEqual({ part: 'poolEntry' })
        expect(await pending(carol)).toHaveLength(1)
      })

      it('is not changed where an entry is altered that leaves', async () => {
        await openPool()([a, b])
        await run('UPDATE pool SET first_seen_seconds = 4')
        expect(await damageOf(openPool()([b]))).toEqual({ part: 'poolEntry' })
        expect(await store.reads.all('SELECT id FROM pool')).toHaveLength(2)
      })

      it('is not read where what is remembered of an entry is altered', async () => {
        await openPool()([a])
        await openPool()([])
        await run('UPDATE first_seen SET first_seen_seconds = 4')
        expect(await damageOf(openPool()([a]))).toEqual({ part: 'poolEntry' })
      })

      it('reads confirmed records in order, and refuses an altered one', async () => {
        const blocks = packBlocks(
          buildChain([[{ name: 'x', parties: [alice] }], [{ name: 'y', parties: [bob] }]]).map(encodeBlock)
        )
        sealRecords(chainId, blocks)
        await store.write(each => each.putRecords(blocks.ids, blocks.records, blocks.recordEnds))
        const rows = createPoolRows(store.reads, chainId, async () => new Set())
        const ids = async (first: number) => {
          const found: number[] = []
          for await (const { id } of rows.records(first, 9)) found.push(id)
          return found
        }
        expect([await ids(0), await ids(1), await ids(2)]).toEqual([
          ...[[0, firstTransactionId(1)], [firstTransactionId(1)], []]
        ])
        await run('UPDATE tx SET id = id + 1 WHERE id > 0')
        expect(await damageOf(ids(0))).toEqual({ part: 'record', block: 1 })
      })
    })

    describe('the log of changes', () => {
      const entry = (number: number, row: Partial<LogRow> = {}): LogRow => ({
        ...{
          entry: number,
          previous: number - 1,
          kind: entryKinds.others,
          first_block: null,
          last_block: null
        },
        rec: Buffer.from(`entry ${number}`),
        ...row
      })
      const ofBlocks = (kind: number, number: number, first_block: number, last_block: number) =>
        entry(number, { kind, first_block, last_block })
      const write = (rows: readonly LogRow[], dropUpTo = 0) =>
        store.write(async each => {
          const meta = await MetaEdit.load(each)
          const to = rows.at(-1)?.entry ?? 0
          await writeLog(each, chainId, meta, { rows, dropUpTo, from: dropUpTo, to })
          await meta.save()
        })
      const replay = () => createReplay(() => store.reads, chainId)
      const log = () => createLogRows(store.reads, chainId)
      const numbers = (rows: readonly { readonly entry: number }[]) => rows.map(each => each.entry)

      beforeEach(async () => {
        await begin()
        await write([
          ofBlocks(entryKinds.blocks, 1, 10, 12),
          ofBlocks(entryKinds.blocks, 2, 13, 13),
          ofBlocks(entryKinds.rollback, 3, 12, 13),
          ofBlocks(entryKinds.blocks, 4, 12, 14),
          entry(5)
        ])
      })

      it('has its bounds in meta, and keeps what it has not dropped', async () => {
        expect((await readMeta(store.reads)).changes).toMatchObject({ from: 0, to: 5 })
        await write([entry(6)], 2)
        expect((await readMeta(store.reads)).changes).toMatchObject({ from: 2, to: 6 })
        const facts = (number: number, row: Partial<LogRow> = {}) => {
          const { rec, ...others } = entry(number, row)
          return { ...others, size: rec.length }
        }
        expect(await log().facts()).toEqual([
          facts(3, { kind: entryKinds.rollback, first_block: 12, last_block: 13 }),
          facts(4, { kind: entryKinds.blocks, first_block: 12, last_block: 14 }),
          ...[facts(5), facts(6)]
        ])
        const bytes = await log().bytesOf([5, 3])
        expect([...bytes].map(([number, each]) => [number, Buffer.from(each).toString()]).sort()).toEqual([
          ...[
            [3, 'entry 3'],
            [5, 'entry 5']
          ]
        ])
        expect(await damageOf(log().bytesOf([5, 2]))).toEqual({ part: 'change' })
      })

      it('is replayed by entries and by blocks', async () => {
        const [first] = await replay().rowsFrom(3)
        expect({ ...first, rec: Buffer.from(first?.rec ?? []) }).toMatchObject(
          ofBlocks(entryKinds.rollback, 3, 12, 13)
        )
        expect(numbers(await replay().rowsFrom(2))).toEqual([2, 3, 4, 5])
        expect(await replay().firstFrom(2)).toEqual({ entry: 2, previous: 1 })
        expect(await replay().firstFrom(6)).toBeUndefined()
        expect((await replay().removal(1, 13))?.entry).toBe(3)
        expect(await replay().removal(3, 13)).toBeUndefined()
        expect(await replay().removal(1, 11)).toBeUndefined()
      })

      it('leaves out records that are not stored, and refuses altered ones', async () => {
        const packed = packBlocks(buildChain([[{ name: 'x', parties: [alice] }]]).map(encodeBlock))
        sealRecords(chainId, packed)
        await store.write(each => each.putRecords(packed.ids, packed.records, packed.recordEnds))
        expect([...(await replay().recordsOf([0, 1])).keys()]).toEqual([0])
        await run('UPDATE tx SET id = 1')
        expect(await damageOf(replay().recordsOf([0, 1]))).toEqual({ part: 'record', block: 0 })
      })

      it.each(['kind = 3', 'previous = 2', 'last_block = 13', 'first_block = NULL', 'sum = 0'])(
        'is refused where an entry is altered (%s)',
        async change => {
          await run(`UPDATE change_log SET ${change} WHERE entry = 4`)
          expect(await damageOf(replay().rowsFrom(1))).toEqual({ part: 'change' })
          expect(await damageOf(log().bytesOf([4]))).toEqual({ part: 'change' })
          expect([...(await log().bytesOf([5])).keys()]).toEqual([5])
        }
      )
    })

    describe("the writer's report", () => {
      const report = { phase: 'following', poolCovered: true, head: 7, problem: 'a\0b' } as const

      it('is the last one, with another beat each time', async () => {
        expect(await readReport(store.reads, chainId)).toBeUndefined()
        const beats: (number | undefined)[] = []
        for (let i = 0; i < 3; i++) {
          await store.write(each => writeReport(each, chainId, report))
          beats.push((await readReport(store.reads, chainId))?.beat)
        }
        expect(beats).toEqual([1, 2, 3])
        const row = await readReport(store.reads, chainId)
        expect(row && toWriterReport(row)).toEqual({ ...report, beat: 3, problem: 'a\ufffdb' })
      })

      it('that is altered is refused, and replaced by the next one', async () => {
        await store.write(each => writeReport(each, chainId, report))
        await run('UPDATE writer_report SET head = 8')
        expect(await damageOf(readReport(store.reads, chainId))).toEqual({ part: 'report' })
        await store.write(each => writeReport(each, chainId, report))
        expect((await readReport(store.reads, chainId))?.beat).toBe(2)
      })
    })
  })
}
