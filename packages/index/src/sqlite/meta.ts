import { formatSpans } from '../model/blockSpans.ts'
import type { BlockRef } from '../model/evm.ts'
import { IndexDamagedError } from '../platform/errors.ts'
import type { ChainIdentity, IndexCoverage, IndexedRange, StoredBlock } from '../port/status.ts'
import { hashBytes } from '../record/hexBytes.ts'
import { checkRow, sumOfRow } from '../shared/rowSums.ts'
import {
  type BlockColumns,
  type ChainMeta,
  coverageColumns,
  type MetaColumns,
  toMeta,
  toRef,
  toStoredBlock
} from '../shared/rows.ts'
import type { SqliteConnection, SqlRow } from './driver.ts'
import { createEpochList, type EpochList } from './epochList.ts'

/** Reads of a chain's own rows that writer and readers share; each sees what its connection's transaction sees. */
export interface Cursor {
  /** Reads the row of `meta` alone: the list of epochs may be damaged. */
  identity(): ChainIdentity
  /** @throws {IndexDamagedError} the list of epochs is damaged. */
  meta(): ChainMeta
  /** The epochs. */
  epochs(): EpochList
  head(): BlockRef | undefined
  block(number: number): StoredBlock | undefined
  /** Absent while nothing is indexed. */
  range(): IndexedRange | undefined
}

interface SealedBlock extends BlockColumns {
  readonly sum: number | null
}

/** The row of `meta` as this engine has it. */
interface StoredMeta extends Omit<MetaColumns, 'tallied_from'> {
  readonly head: number | null
  readonly sum: number | null
}

/** Its reads throw an `IndexDamagedError` where a row is not what was written, or is missing. */
export function createCursor(connection: SqliteConnection): Cursor {
  const selectMeta = connection.prepare<StoredMeta>('SELECT * FROM meta')
  const list = createEpochList(connection)
  const selectBlock = connection.prepare<SealedBlock>('SELECT * FROM block WHERE number = ?')

  const readMeta = () => {
    const row = selectMeta.get([])
    if (row === undefined) return undefined
    return checkRow(row.chain_id, 'meta', row, { part: 'meta' })
  }

  const readBlock = (number: number) => {
    const stored = readMeta()
    const { indexed_from: from, head } = stored ?? { indexed_from: null, head: null }
    if (stored === undefined || from === null || head === null || number < from || number > head)
      return undefined
    const row = selectBlock.get([number])
    const damage = { part: 'block', block: number } as const
    if (row === undefined) throw new IndexDamagedError(damage, 'it is missing')
    return checkRow(stored.chain_id, 'block', row, damage)
  }

  const readHead = () => {
    const head = readMeta()?.head ?? undefined
    return head === undefined ? undefined : readBlock(head)
  }

  return {
    identity: () => {
      const row = readMeta()
      return toMeta(row && { ...row, tallied_from: null }).identity
    },
    meta() {
      const row = readMeta()
      return toMeta(row && { ...row, tallied_from: list.read().epochs[0]?.firstBlock ?? null })
    },
    epochs: list.read,
    head() {
      const row = readHead()
      return row && toRef(row)
    },
    block(number) {
      const row = readBlock(number)
      return row && toStoredBlock(row)
    },
    range: () => {
      const head = readHead()
      const from = readMeta()?.indexed_from ?? undefined
      if (head === undefined || from === undefined) return undefined
      return { from, to: toRef(head), toTimestampSeconds: head.timestamp_seconds }
    }
  }
}

/**
 * Records the chain of the index. Rollbacks are counted from the microseconds since 1970 on: a count from 0 would repeat in an
 * index made anew, and a cache that is keyed by it would then mix the blocks of both.
 */
export function writeIdentity(connection: SqliteConnection, { chainId, genesisHash }: ChainIdentity): void {
  connection
    .prepare(
      `INSERT INTO meta (id, chain_id, genesis_hash, rollbacks, changes_log, changes_from, changes_to)
       VALUES (1, ?, ?, ?, lower(hex(randomblob(8))), 0, 0)`
    )
    .run([chainId, hashBytes(genesisHash), Date.now() * 1000])
  sealMeta(connection)
}

/** Writes the checksum of the row of `meta`, once all that changes it has been done. */
export function sealMeta(connection: SqliteConnection): void {
  const row = connection.prepare<SqlRow>('SELECT * FROM meta').get([])
  if (row === undefined) return
  connection.prepare('UPDATE meta SET sum = ?').run([sumOfRow(Number(row.chain_id), 'meta', row)])
}

/** Prepares writing `IndexMarks` and `IndexCoverage`. Every call runs inside the caller's transaction. */
export function createMarkWriter(connection: SqliteConnection) {
  // Not below the first stored block: older final blocks are not in the index.
  const raiseFinal = connection.prepare(
    'UPDATE meta SET finalized = max(coalesce(finalized, -1), ?) WHERE indexed_from <= ?'
  )
  const endDegraded = connection.prepare(
    'UPDATE meta SET degraded_until = NULL WHERE degraded_until <= finalized'
  )
  const lowerFinal = connection.prepare('UPDATE meta SET finalized = ? WHERE finalized > ?')
  const degrade = connection.prepare(
    `UPDATE meta SET degraded_until = max(coalesce(degraded_until, -1), ?) WHERE finalized > ?`
  )
  const unsettle = connection.prepare('UPDATE meta SET settled = 0, rollbacks = rollbacks + 1')

  // All rows are proven: the oldest epoch says from which block on.
  const { countedFrom: _, ...stored } = coverageColumns
  const columns = [...Object.values(stored), 'unknown_blocks'].join(', ')
  const values = columns.split(', ').map((_, i) => `?${i + 1}`)
  const setCoverage = connection.prepare(
    `UPDATE meta SET (${columns}) = (${values}) WHERE (${columns}) IS NOT (${values})`
  )
  const setHead = connection.prepare('UPDATE meta SET head = ?')

  return {
    setCoverage(coverage: IndexCoverage): void {
      const heights = Object.keys(stored).map(mark => coverage[mark as keyof typeof stored] ?? null)
      setCoverage.run([...heights, coverage.unknown ? formatSpans(coverage.unknown) : null])
    },
    /** @param number - of the newest stored block; absent: there is none. */
    setHead(number: number | undefined): void {
      setHead.run([number ?? null])
    },
    /** Stored blocks up to this one are final; what was final stays so. */
    setFinal(number: number): void {
      raiseFinal.run([number, number])
      endDegraded.run([])
    },
    /** Blocks above `kept`, all of them when it is absent, up to `head` are being removed. */
    leave(kept: number | undefined, head: number): void {
      unsettle.run([])
      degrade.run([head, kept ?? -1])
      lowerFinal.run([kept ?? null, kept ?? -1])
    }
  }
}
