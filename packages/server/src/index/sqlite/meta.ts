import type { BlockRef } from '../../model/evm.ts'
import { StoreError } from '../../platform/errors.ts'
import type { ChainIdentity, IndexCoverage, IndexedRange, IndexMarks } from '../port/status.ts'
import { hashBytes, toHex } from '../record/hexBytes.ts'
import type { SqliteConnection } from './driver.ts'

/** What the single row of `meta` says. */
export interface ChainMeta {
  readonly identity: ChainIdentity
  readonly indexedFrom?: number
  readonly marks: IndexMarks
  readonly rollbacks: number
  readonly coverage: IndexCoverage
}

/** Reads of a chain's own rows that writer and readers share; each sees what its connection's transaction sees. */
export interface Cursor {
  meta(): ChainMeta
  head(): BlockRef | undefined
  block(number: number): BlockRef | undefined
  /** Absent while nothing is indexed. */
  range(): IndexedRange | undefined
}

interface BlockColumns {
  readonly number: number
  readonly hash: Uint8Array
  readonly timestamp_seconds: number
}

interface MetaColumns {
  readonly chain_id: number
  readonly genesis_hash: Uint8Array
  readonly indexed_from: number | null
  readonly backfilled: number
  readonly settled: number
  readonly degraded_until: number | null
  readonly finalized: number | null
  readonly rollbacks: number
  readonly detailed_from: number | null
  readonly traced_from: number | null
  readonly tallied_from: number | null
}

export function createCursor(connection: SqliteConnection): Cursor {
  const selectMeta = connection.prepare<MetaColumns>('SELECT * FROM meta')
  const columns = 'number, hash, timestamp_seconds'
  const selectHead = connection.prepare<BlockColumns>(
    `SELECT ${columns} FROM block ORDER BY number DESC LIMIT 1`
  )
  const selectBlock = connection.prepare<BlockColumns>(`SELECT ${columns} FROM block WHERE number = ?`)

  const meta = (): ChainMeta => {
    const row = selectMeta.get([])
    if (row === undefined) throw new StoreError('the store does not say which chain it belongs to')
    return {
      identity: { chainId: row.chain_id, genesisHash: toHex(row.genesis_hash) },
      ...(row.indexed_from !== null && { indexedFrom: row.indexed_from }),
      marks: {
        backfilled: row.backfilled === 1,
        settled: row.settled === 1,
        degraded: row.degraded_until !== null,
        ...(row.finalized !== null && { finalized: row.finalized })
      },
      rollbacks: row.rollbacks,
      coverage: {
        ...(row.detailed_from !== null && { detailedFrom: row.detailed_from }),
        ...(row.traced_from !== null && { tracedFrom: row.traced_from }),
        ...(row.tallied_from !== null && { talliedFrom: row.tallied_from })
      }
    }
  }

  return {
    meta,
    head: () => toRef(selectHead.get([])),
    block: number => toRef(selectBlock.get([number])),
    range: () => {
      const head = selectHead.get([])
      const to = toRef(head)
      const { indexedFrom } = meta()
      if (head === undefined || to === undefined || indexedFrom === undefined) return undefined
      return { from: indexedFrom, to, toTimestampSeconds: head.timestamp_seconds }
    }
  }
}

/** Says for good whose index this file holds. */
export function writeIdentity(connection: SqliteConnection, { chainId, genesisHash }: ChainIdentity): void {
  connection
    .prepare('INSERT INTO meta (id, chain_id, genesis_hash) VALUES (1, ?, ?)')
    .run([chainId, hashBytes(genesisHash)])
}

function toRef(row: BlockColumns | undefined): BlockRef | undefined {
  return row === undefined ? undefined : { number: row.number, hash: toHex(row.hash) }
}
