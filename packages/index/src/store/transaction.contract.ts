import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Chunk } from '../runs/chunk.ts'
import type { FoundChunk } from '../runs/chunkReads.ts'
import type {
  FoundRecords,
  ReadTransaction,
  Value,
  WritableStore,
  WriteTransaction
} from '../runs/Transaction.ts'

/** A store in a place of its own. */
export interface WritableStoreUnderTest {
  readonly store: WritableStore
  /** Reads over another connection, as a reader does. */
  read<T>(work: (transaction: ReadTransaction) => Promise<T>): Promise<T>
  /** Closes what is open and removes everything. */
  dispose(): Promise<void>
}

const bytesOf = (...values: number[]) => Uint8Array.from(values)
const allBytes = Uint8Array.from({ length: 256 }, (_, i) => i)
const chunkAt = (number: number, lower: Uint8Array, bytes = bytesOf(number & 255), run = 7): Chunk => ({
  ...{ run, section: 2, number, lower, bytes }
})
/** 3 bytes, so that chunks of more numbers than a byte has sort by them. */
const lowerOf = (number: number) => bytesOf(number >> 16, (number >> 8) & 255, number & 255)
/** Bytes may come as any kind of byte array. */
const plain = (chunk: FoundChunk | undefined) =>
  chunk && { number: chunk.number, bytes: new Uint8Array(chunk.bytes) }
const numbersOf = (chunks: readonly (FoundChunk | undefined)[]) => chunks.map(chunk => chunk?.number)
const textOf = (found: FoundRecords | { readonly missing: number }) => {
  if (!('bytes' in found)) return found
  let start = 0
  return found.lengths.map(length => {
    start += length
    return Buffer.from(found.bytes).toString('latin1', start - length, start)
  })
}

async function putRecords(transaction: WriteTransaction, records: Record<number, string>): Promise<void> {
  const rows = Object.values(records).map(record => Buffer.from(record, 'latin1'))
  let end = 0
  const ends = Uint32Array.from(rows, row => {
    end += row.length
    return end
  })
  await transaction.putRecords(Float64Array.from(Object.keys(records), Number), Buffer.concat(rows), ends)
}

/** What one transaction of every engine must do. Call it in a test file, once for each engine and driver. */
export function describeTransaction(name: string, create: () => Promise<WritableStoreUnderTest>): void {
  describe(`transaction of ${name}`, () => {
    let place: WritableStoreUnderTest
    let store: WritableStore
    beforeEach(async () => {
      place = await create()
      store = place.store
    })
    afterEach(() => place.dispose())

    describe('statements', () => {
      const columns = ['entry', 'previous', 'kind', 'first_block', 'rec']
      const entries: readonly (readonly Value[])[] = [
        [1, 2 ** 53 - 1, 0, null, allBytes],
        [2, -(2 ** 53 - 1), -1, 0, bytesOf()],
        [3, 2 ** 31, -(2 ** 31), 2 ** 31 - 1, bytesOf(0, 92, 9, 10, 13, 39)]
      ]
      const read = (reads: ReadTransaction) =>
        reads.all<Record<string, Value>>(`SELECT ${columns.join(', ')} FROM change_log ORDER BY entry`)
      const plainRows = (rows: readonly Record<string, Value>[]) =>
        rows.map(row =>
          Object.values(row).map(each => (each instanceof Uint8Array ? bytesOf(...each) : each))
        )

      it('store integers, bytes and nulls as they are, inserted one by one or together', async () => {
        const runOne =
          'INSERT INTO change_log (entry, previous, kind, first_block, rec) VALUES (?, ?, ?, ?, ?)'
        await store.write(async transaction => {
          await transaction.insert('change_log', columns, entries)
          for (const [entry, ...others] of entries)
            await transaction.run(runOne, [Number(entry) + 3, ...others])
          await transaction.insert('change_log', columns, [])
        })
        const expected = [...entries, ...entries.map(([entry, ...others]) => [Number(entry) + 3, ...others])]
        expect(
          plainRows(await store.reads.all(`SELECT ${columns.join(', ')} FROM change_log ORDER BY entry`))
        ).toEqual(expected)
        expect(plainRows(await place.read(read))).toEqual(expected)
        for (const [, , , , rec = null] of entries) {
          const [row] = await place.read(reads =>
            reads.all<{ n: number }>('SELECT count(*) AS n FROM change_log WHERE rec = ?', [rec])
          )
          expect(row).toEqual({ n: 2 })
        }
      })

      it('store texts as they are', async () => {
        const texts = ["it's", 'a\tb\\c\nd\r?', '\\N', '\\', '', '?', "'?", 'ü€😀', '$1', '--', '\\x00']
        const report = ['id', 'beat', 'phase', 'pool_covered']
        const phase = 'SELECT phase, problem FROM writer_report WHERE phase = ?'
        for (const text of texts) {
          const found = await store.write(async transaction => {
            await transaction.run('DELETE FROM writer_report')
            await transaction.insert('writer_report', report, [[1, 0, text, 0]])
            await transaction.run("UPDATE writer_report SET problem = ? WHERE phase <> '?' OR id = ?", [
              text,
              1
            ])
            return transaction.all(phase, [text])
          })
          expect(found).toEqual([{ phase: text, problem: text }])
          expect(await store.reads.all(phase, [text])).toEqual(found)
          expect(await place.read(reads => reads.all(phase, [text]))).toEqual(found)
        }
      })

      it('take negative numbers wherever a value may be', async () => {
        const [row] = await store.write(transaction =>
          transaction.all('SELECT count(*) AS n FROM meta WHERE 5 -? = 8 AND next_run = ?', [-3, -1])
        )
        expect(row).toEqual({ n: 0 })
      })

      it('return sums as numbers', async () => {
        await store.write(transaction => transaction.insert('change_log', columns, entries.slice(2)))
        const sum = 'SELECT sum(previous) AS total, max(kind) AS newest FROM change_log'
        const expected = [{ total: 2 ** 31, newest: -(2 ** 31) }]
        expect(await store.reads.all(sum)).toEqual(expected)
        expect(await place.read(reads => reads.all(sum))).toEqual(expected)
        expect(await store.write(transaction => transaction.all(sum))).toEqual(expected)
      })

      it('see what the same transaction has written, and others do not', async () => {
        await store.write(async transaction => {
          await transaction.insert('change_log', columns, entries)
          await transaction.run('DELETE FROM change_log WHERE entry = ?', [2])
          expect(plainRows(await read(transaction)).map(([entry]) => entry)).toEqual([1, 3])
          await transaction.run('UPDATE change_log SET kind = ? WHERE entry = ?', [9, 3])
          await transaction.putChunks([chunkAt(0, bytesOf())])
          await putRecords(transaction, { 5: 'five' })
          expect(numbersOf(await transaction.scan(7, 2, bytesOf(), 9))).toEqual([0])
          expect(textOf(await transaction.recordsOf([5]))).toEqual(['five'])
          expect(plainRows(await read(transaction))[1]?.[2]).toBe(9)
          expect(await place.read(read)).toEqual([])
        })
        expect(await place.read(read)).toHaveLength(2)
      })
    })

    describe('work that fails', () => {
      const nothingIsStored = async () => {
        await place.read(async reads => {
          expect(await reads.scan(7, 2, bytesOf(), 9)).toEqual([])
          expect(await reads.recordsOf([1])).toEqual({ missing: 1 })
          expect(await reads.all('SELECT entry FROM change_log')).toEqual([])
        })
      }
      const writeAll = async (transaction: WriteTransaction) => {
        await putRecords(transaction, { 1: 'one' })
        await transaction.putChunks([chunkAt(0, bytesOf())])
        await transaction.insert('change_log', ['entry', 'previous', 'kind', 'rec'], [[1, 0, 1, bytesOf(1)]])
      }

      it('stores nothing, whether it has read or not, and the next work is not affected', async () => {
        for (const reads of [false, true]) {
          const failed = store.write(async transaction => {
            await writeAll(transaction)
            if (reads) expect(textOf(await transaction.recordsOf([1]))).toEqual(['one'])
            throw new Error('no more')
          })
          await expect(failed).rejects.toThrow('no more')
          await nothingIsStored()
        }
        await store.write(writeAll)
        expect(textOf(await store.reads.recordsOf([1]))).toEqual(['one'])
      })

      it('reports a statement that is refused, at the latest with the commit', async () => {
        const twice = store.write(async transaction => {
          await writeAll(transaction)
          await transaction.putChunks([chunkAt(1, bytesOf())])
        })
        await expect(twice).rejects.toThrow(/unique/i)
        await nothingIsStored()
        const unknown = store.write(async transaction => {
          await writeAll(transaction)
          await transaction.all('SELECT nothing_of_that_name FROM meta')
        })
        await expect(unknown).rejects.toThrow('nothing_of_that_name')
        await nothingIsStored()
      })

      it('refuses a second transaction while one is open', async () => {
        await store.write(async transaction => {
          await writeAll(transaction)
          await expect(store.write(async () => undefined)).rejects.toThrow('transaction')
          expect(textOf(await transaction.recordsOf([1]))).toEqual(['one'])
        })
        expect(textOf(await store.reads.recordsOf([1]))).toEqual(['one'])
      })
    })

    describe('chunks', () => {
      it('are found by the greatest lower bound that does not sort after the key, in the order of the searches', async () => {
        await store.write(transaction =>
          transaction.putChunks([
            chunkAt(0, bytesOf(10)),
            chunkAt(1, bytesOf(10, 0)),
            chunkAt(2, bytesOf(128)),
            chunkAt(3, bytesOf(255, 255), allBytes),
            chunkAt(4, bytesOf(1), bytesOf(), 8),
            { ...chunkAt(5, bytesOf()), section: 3 }
          ])
        )
        const keys = [[10, 1], [9], [128], [255, 255, 255], [10], [127, 255], [255]]
        const searches = keys.map(key => ({ run: 7, section: 2, key: bytesOf(...key) }))
        const find = async (reads: ReadTransaction) => {
          expect(await reads.find([])).toEqual([])
          const found = await reads.find([
            ...searches,
            { run: 8, section: 2, key: bytesOf(1) },
            { run: 9, section: 2, key: bytesOf(255) },
            { run: 7, section: 3, key: bytesOf() }
          ])
          expect(numbersOf(found)).toEqual([1, undefined, 2, 3, 0, 1, 2, 4, undefined, 5])
          expect(plain(found[3])).toEqual({ number: 3, bytes: allBytes })
          expect(plain(found[7])).toEqual({ number: 4, bytes: bytesOf() })
        }
        await find(store.reads)
        await place.read(find)
        await store.write(find)
      })

      it('are scanned in order, from a bound on, up to a limit', async () => {
        await store.write(transaction =>
          transaction.putChunks([3, 1, 0, 2].map(number => chunkAt(number, bytesOf(number * 64))))
        )
        const scan = async (reads: ReadTransaction) => {
          expect(numbersOf(await reads.scan(7, 2, bytesOf(), 9))).toEqual([0, 1, 2, 3])
          expect(numbersOf(await reads.scan(7, 2, bytesOf(64), 2))).toEqual([1, 2])
          expect(numbersOf(await reads.scan(7, 2, bytesOf(64, 0), 1))).toEqual([2])
          expect(await reads.scan(7, 2, bytesOf(193), 9)).toEqual([])
          expect(await reads.scan(6, 2, bytesOf(), 9)).toEqual([])
        }
        await scan(store.reads)
        await place.read(scan)
        await store.write(scan)
      })

      it('are written by the thousand, found one by one, and removed in pieces, the runs one after the other', async () => {
        const count = 10_000
        const chunks = Array.from({ length: count }, (_, number) =>
          chunkAt(number, lowerOf(number * 2), allBytes.subarray(0, number % 257))
        )
        await store.write(async transaction => {
          await transaction.putChunks(chunks.slice(0, 6_000))
          await transaction.putChunks(chunks.slice(6_000))
          await transaction.putChunks([chunkAt(0, bytesOf(), allBytes, 6)])
        })
        await place.read(async reads => {
          for (let i = 0; i < count; i += 64) {
            const wanted = chunks.slice(i, i + 64)
            const found = await reads.find(
              wanted.map(({ number }) => ({ run: 7, section: 2, key: lowerOf(number * 2 + 1) }))
            )
            expect(found.map(plain)).toEqual(
              wanted.map(({ number, bytes }) => ({ number, bytes: bytesOf(...bytes) }))
            )
          }
          const scanned = await reads.scan(7, 2, lowerOf(0), count)
          expect(numbersOf(scanned)).toEqual(chunks.map(({ number }) => number))
        })
        const runsAfter = (number: number) => store.write(transaction => transaction.runAfter(number))
        expect([await runsAfter(-1), await runsAfter(6), await runsAfter(7)]).toEqual([6, 7, undefined])
        const drop = () => store.write(transaction => transaction.dropChunks(7, 3_000))
        expect([await drop(), await drop(), await drop(), await drop(), await drop()]).toEqual([
          3_000, 3_000, 3_000, 1_000, 0
        ])
        expect(await store.reads.scan(7, 2, bytesOf(), 1)).toEqual([])
        expect(numbersOf(await store.reads.scan(6, 2, bytesOf(), 9))).toEqual([0])
      })
    })

    describe('records', () => {
      it('are read in the order of the ids, with all bytes, also empty ones and one twice', async () => {
        const all = Buffer.from(allBytes).toString('latin1')
        const ids = [3 * 65_536, 2 ** 48 + 1, 1]
        await store.write(transaction =>
          putRecords(transaction, { 1: all, [3 * 65_536]: '', [2 ** 48 + 1]: 'x'.repeat(9_000) })
        )
        const read = async (reads: ReadTransaction) => {
          expect(textOf(await reads.recordsOf(ids))).toEqual(['', 'x'.repeat(9_000), all])
          expect(textOf(await reads.recordsOf([1, 3 * 65_536, 1]))).toEqual([all, '', all])
          expect(textOf(await reads.recordsOf([]))).toEqual([])
          expect(await reads.recordsOf([1, 2, 3 * 65_536])).toEqual({ missing: 2 })
        }
        await read(store.reads)
        await place.read(read)
        await store.write(read)
      })

      it('are written by the hundred', async () => {
        const records = Object.fromEntries(Array.from({ length: 450 }, (_, i) => [i * 7, `record ${i}`]))
        await store.write(transaction => putRecords(transaction, records))
        const ids = Object.keys(records).map(Number).reverse()
        expect(textOf(await place.read(reads => reads.recordsOf(ids)))).toEqual(
          Object.values(records).reverse()
        )
      })
    })
  })
}
