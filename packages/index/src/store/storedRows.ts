import { IndexDamagedError } from '../platform/errors.ts'
import { deriveRows } from '../record/deriveRows.ts'
import { joinBytes } from '../record/packBlocks.ts'
import { toPosition } from '../record/transactionId.ts'
import type { StoredRows } from '../runs/RunWriter.ts'
import { type FoundBlock, readBlockRange } from './blocks.ts'
import { readMeta } from './meta.ts'
import { readSoundRecords } from './records.ts'

const noExtra = new Uint8Array(0)
const blocksAtOnce = 1_000

/** Creates the reading of rows from records and from the rows of blocks. */
export function createStoredRows(chainId: number): StoredRows {
  return {
    async endOf(transaction, from, to, transactions) {
      let left = transactions
      for (let next = from; next <= to; ) {
        const blocks = await transaction.all<{ readonly number: number; readonly count: number }>(
          `SELECT number, tx_count AS count FROM block WHERE number >= ? AND number <= ? ORDER BY number LIMIT ${blocksAtOnce}`,
          [next, to]
        )
        for (const { number, count } of blocks) {
          left -= count + 1
          if (left <= 0) return number
        }
        next = (blocks.at(-1)?.number ?? to) + 1
      }
      return to
    },
    async rowsOf(transaction, from, to) {
      const blocks = await readBlockRange(transaction, await readMeta(transaction), from, to)
      const ids: number[] = []
      const records: Uint8Array[] = []
      for await (const { id, rec } of readSoundRecords(transaction, chainId, from, to)) {
        ids.push(id)
        records.push(rec)
      }
      checkCounts(ids, blocks)
      const extras = blocks.map(({ extra = noExtra }) => extra)
      let end = 0
      const extraEnds = Uint32Array.from(extras, ({ length }) => {
        end += length
        return end
      })
      const stored = { records: joinBytes(records), extras: joinBytes(extras), extraEnds }
      const rows = deriveRows(from, { ids: Float64Array.from(ids), ...stored })
      return { ...rows, lastHash: blocks.at(-1)?.hash ?? noExtra }
    }
  }
}

/** @throws {IndexDamagedError} a block has other records than its row says. */
function checkCounts(ids: readonly number[], blocks: readonly FoundBlock[]): void {
  const counts = new Map<number, number>()
  for (const id of ids) {
    const { blockNumber } = toPosition(id)
    counts.set(blockNumber, (counts.get(blockNumber) ?? 0) + 1)
  }
  for (const { number, transactions } of blocks) {
    if ((counts.get(number) ?? 0) === transactions) continue
    throw new IndexDamagedError({ part: 'record', block: number }, 'a record of it is missing')
  }
}
