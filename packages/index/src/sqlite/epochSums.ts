import { RowChecksums } from '../record/rowChecksums.ts'
import { readRowSum, rowSumLength, writeRowSum } from '../record/rowSum.ts'
import { checkChecksumPage } from '../shared/rows.ts'
import type { SqliteConnection } from './driver.ts'
import { addressTable, hashTable, holdingTable, sumId, type TableShape, tableShapes } from './tableShapes.ts'

/** How rows of an epoch are proven; see the schema. */
export const proofs = { none: 0, parts: 1, rows: 2 } as const
export type Proof = (typeof proofs)[keyof typeof proofs]
/** Of address and hash rows: they are always proven. */
export type EpochProof = Exclude<Proof, typeof proofs.none>

/** The sums of one epoch's parts, by table, which the writer keeps in memory of an epoch that rows are added to. */
interface PartSums {
  readonly addresses: RowChecksums
  readonly hashes: RowChecksums
  readonly holdings: RowChecksums
}

/** Epochs that are kept: the newest one, and the oldest one while older blocks are added to it. */
const keptEpochs = 2

/** Keeps the sums of the parts of the epochs that rows are added to. Every call runs inside the caller's transaction. */
export class EpochSums {
  readonly #select
  readonly #put
  readonly #kept = new Map<number, PartSums>()

  constructor(connection: SqliteConnection) {
    this.#select = connection.prepare<{ id: number; rec: Uint8Array }>(
      'SELECT id, rec FROM epoch_sum WHERE id >= ? AND id < ?'
    )
    this.#put = connection.prepare('INSERT OR REPLACE INTO epoch_sum VALUES (?, ?)')
  }

  /** The sums of an epoch, to be changed and saved. */
  of(epoch: number): PartSums {
    const kept = this.#kept.get(epoch)
    if (kept !== undefined) return kept
    if (this.#kept.size === keptEpochs) this.#leaveOldest()
    const sums: PartSums = {
      addresses: new RowChecksums(addressTable.rows),
      hashes: new RowChecksums(hashTable.rows),
      holdings: new RowChecksums(holdingTable.rows)
    }
    for (const [keyed, table] of tablesOf(sums).entries()) {
      const shape = tableShapes[keyed] as TableShape
      const first = sumId(epoch, shape)
      for (const { id, rec } of this.#select.all([first, sumId(epoch, shape, 64)])) {
        if (shape.rows.namesRows) checkChecksumPage(rec)
        table.load(id - first, rec)
      }
    }
    this.#kept.set(epoch, sums)
    return sums
  }

  save(): void {
    for (const [epoch, sums] of this.#kept) this.#saveEpoch(epoch, sums)
  }

  #leaveOldest(): void {
    for (const [epoch, sums] of [...this.#kept].slice(0, 1)) {
      this.#saveEpoch(epoch, sums)
      this.#kept.delete(epoch)
    }
  }

  #saveEpoch(epoch: number, sums: PartSums): void {
    for (const [keyed, table] of tablesOf(sums).entries()) {
      const shape = tableShapes[keyed] as TableShape
      for (const [page, rec] of table.takeChanged()) this.#put.run([sumId(epoch, shape, page), rec])
    }
  }

  /** The transaction has failed, or sums were changed past this object. @param epoch - of this one alone; absent: of any. */
  forget(epoch?: number): void {
    if (epoch === undefined) this.#kept.clear()
    else this.#kept.delete(epoch)
  }
}

function tablesOf({ addresses, hashes, holdings }: PartSums): readonly RowChecksums[] {
  return [addresses, hashes, holdings]
}

/** Prepares reading and writing single pages of a table's sums. */
export function createSumPages(connection: SqliteConnection, shape: TableShape) {
  const select = connection.prepare<{ rec: Uint8Array | null }>('SELECT rec FROM epoch_sum WHERE id = ?')
  const replace = connection.prepare('INSERT OR REPLACE INTO epoch_sum VALUES (?, ?)')
  return {
    /** Absent: nothing was written there, or it is lost. Null: the file is damaged. */
    read: (epoch: number, page = 0): Uint8Array | null | undefined =>
      select.get([sumId(epoch, shape, page)])?.rec,
    put: (epoch: number, page: number, rec: Uint8Array) => replace.run([sumId(epoch, shape, page), rec])
  }
}

/** Prepares the hashes of the last rows of epochs: with them the sums of rows end, where rows have sums. */
export function createEpochEnds(connection: SqliteConnection, shape: TableShape) {
  const pages = createSumPages(connection, shape)
  return {
    /** Absent: the epoch has none, or it is lost. */
    read(epoch: number): number | undefined {
      const rec = pages.read(epoch)
      return rec ? readRowSum(rec, 0) : undefined
    },
    put: (epoch: number, hash: number) => pages.put(epoch, 0, sumBytes(hash))
  }
}

/** The bytes of a hash or of a sum of a row. */
export function sumBytes(sum: number): Uint8Array {
  const bytes = new Uint8Array(rowSumLength)
  writeRowSum(bytes, 0, sum)
  return bytes
}
