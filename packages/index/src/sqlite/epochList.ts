import { crc32 } from 'node:zlib'
import { IndexDamagedError } from '../platform/errors.ts'
import type { SqliteConnection } from './driver.ts'
import type { EpochProof, Proof } from './epochSums.ts'
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
}

/** Tables of the list and their columns, in the order of the text. */
const listed = [
  { table: 'epoch', columns: ['id', 'first_block', 'tx_count', 'proof'], order: 'first_block' },
  { table: 'holding_epoch', columns: ['id', 'proof'], order: 'id' },
  { table: 'dropped_epoch', columns: ['id'], order: 'id' },
  { table: 'merge', columns: ['target', 'tables_done'], order: 'id' },
  { table: 'merge_source', columns: ['epoch'], order: 'epoch' }
] as const

const textOfTable = ({ table, columns, order }: (typeof listed)[number]) =>
  `coalesce((SELECT group_concat(${columns.join(" || ' ' || ")}) FROM (SELECT * FROM ${table} ORDER BY ${order})), '')`

/**
 * Prepares reading and stamping the list of epochs. It is read as one text, with what is to be merged and removed: a checksum of
 * that text is stored whenever one of these tables has changed, and the text itself beside it. Lists that are read again and again
 * are decoded once.
 */
export function createEpochList(connection: SqliteConnection) {
  const text = listed.map(textOfTable).join(" || ';' || ")
  const select = connection.prepare<{ text: string; sum: number | null }>(
    `SELECT ${text} AS text, (SELECT sum FROM epoch_check) AS sum`
  )
  const selectCopy = connection.prepare<{ list: string | null }>('SELECT list FROM epoch_check')
  const put = connection.prepare('INSERT OR REPLACE INTO epoch_check (id, sum, list) VALUES (1, ?, ?)')
  let last: { readonly text: string; readonly sum: number | null; readonly list: EpochList } | undefined

  return {
    /** @throws {IndexDamagedError} the list is not what was written. */
    read(): EpochList {
      const { text = '', sum = null } = select.get([]) ?? {}
      if (last !== undefined && last.text === text && last.sum === sum) return last.list
      if (crc32(text) !== sum) {
        throw new IndexDamagedError({ part: 'epochs' }, 'their checksum does not fit')
      }
      const list = toList(text)
      last = { text, sum, list }
      return list
    },
    /** Stores the checksum and the copy of the list. Call it in the transaction that changes the list, at its end. */
    stamp(): void {
      const { text = '', sum = null } = select.get([]) ?? {}
      const now = crc32(text)
      if (now !== sum) put.run([now, text])
    },
    /**
     * Puts back what was altered: the tables where copy and checksum agree, the checksum where tables and copy do. Call it in a
     * transaction.
     * @throws {IndexDamagedError} of tables, copy and checksum no two agree.
     */
    restore(): void {
      const { text = '', sum = null } = select.get([]) ?? {}
      if (crc32(text) === sum) return
      const copy = selectCopy.get([])?.list ?? null
      if (copy === text) put.run([crc32(text), text])
      else if (copy !== null && crc32(copy) === sum) putBack(connection, copy)
      else throw new IndexDamagedError({ part: 'epochs' }, 'neither the list nor its copy fits its checksum')
    }
  }
}

/** Replaces the rows of all tables of the list. */
function putBack(connection: SqliteConnection, copy: string): void {
  const texts = copy.split(';')
  for (const [i, { table, columns }] of listed.entries()) {
    connection.exec(`DELETE FROM ${table}`)
    const places = columns.map(() => '?').join()
    const insert = connection.prepare(`INSERT INTO ${table} (${columns.join()}) VALUES (${places})`)
    for (const row of toRows(texts[i])) insert.run([...row])
  }
}

function toList(text: string): EpochList {
  const [epochs, holdings] = text.split(';').map(toRows)
  return {
    epochs: (epochs ?? []).map(([id = 0, firstBlock = 0, txCount = 0, proof = 0]) => ({
      ...{ id, firstBlock, txCount },
      proof: proof as EpochProof
    })),
    holdings: (holdings ?? []).map(([id = 0, proof = 0]) => ({ id, proof: proof as Proof }))
  }
}

function toRows(rows = ''): readonly (readonly number[])[] {
  return rows === '' ? [] : rows.split(',').map(row => row.split(' ').map(Number))
}
