import { crc32 } from 'node:zlib'
import { IndexDamagedError } from '../../platform/errors.ts'
import type { SqliteConnection } from './driver.ts'
import { type Proof, proofs } from './epochSums.ts'
import type { Epoch } from './epochs.ts'

/** Candidates of one epoch, and how they are proven. */
export interface HoldingEpoch {
  readonly id: number
  readonly proof: Proof
}

/** Which epochs there are. */
export interface EpochList {
  /** Oldest first. */
  readonly epochs: readonly Epoch[]
  readonly holdings: readonly HoldingEpoch[]
  /** First block from which on up to the head rows are proven; absent: not even those of the newest block. */
  readonly provenFrom?: number
}

/**
 * Prepares reading and stamping the list of epochs. It is read as one text, with what is to be merged and removed: a checksum of
 * that text is stored whenever one of these tables has changed. Lists that are read again and again are decoded once.
 */
export function createEpochList(connection: SqliteConnection) {
  const joined = (columns: readonly string[], table: string, order: string) =>
    `coalesce((SELECT group_concat(${columns.join(" || ' ' || ")}) FROM (SELECT * FROM ${table} ORDER BY ${order})), '')`
  const text = [
    joined(['id', 'first_block', 'tx_count', 'proof'], 'epoch', 'first_block'),
    joined(['id', 'proof'], 'holding_epoch', 'id'),
    joined(['id'], 'dropped_epoch', 'id'),
    joined(['target', 'tables_done'], 'merge', 'id'),
    joined(['epoch'], 'merge_source', 'epoch')
  ].join(" || ';' || ")
  const select = connection.prepare<{ text: string; sum: number | null }>(
    `SELECT ${text} AS text, (SELECT sum FROM epoch_check) AS sum`
  )
  const put = connection.prepare('INSERT OR REPLACE INTO epoch_check VALUES (1, ?)')
  let last: { readonly text: string; readonly sum: number | null; readonly list: EpochList } | undefined

  return {
    /** @throws {IndexDamagedError} the list is not what was written. */
    read(): EpochList {
      const { text = '', sum = null } = select.get([]) ?? {}
      if (last !== undefined && last.text === text && last.sum === sum) return last.list
      // An older program has written no checksum.
      if (sum !== null && crc32(text) !== sum) {
        throw new IndexDamagedError({ part: 'epochs' }, 'their checksum does not fit')
      }
      const list = toList(text)
      last = { text, sum, list }
      return list
    },
    /** Stores the checksum of the list. Call it in the transaction that changes the list, at its end. */
    stamp(): void {
      const { text = '', sum = null } = select.get([]) ?? {}
      const now = crc32(text)
      if (now !== sum) put.run([now])
    }
  }
}

function toList(text: string): EpochList {
  const [epochs, holdings] = text.split(';').map(rows => (rows === '' ? [] : rows.split(',').map(toNumbers)))
  const list = {
    epochs: (epochs ?? []).map(([id = 0, firstBlock = 0, txCount = 0, proof = 0]) => ({
      ...{ id, firstBlock, txCount },
      proof: proof as Proof
    })),
    holdings: (holdings ?? []).map(([id = 0, proof = 0]) => ({ id, proof: proof as Proof }))
  }
  const unproven = list.epochs.findLastIndex(({ proof }) => proof === proofs.none)
  const first = list.epochs[unproven + 1]
  return { ...list, ...(first && { provenFrom: first.firstBlock }) }
}

function toNumbers(row: string): readonly number[] {
  return row.split(' ').map(Number)
}
