import type { BlockRef } from '../../model/evm.ts'
import { StoreError } from '../../platform/errors.ts'
import type { ChainIdentity, IndexCoverage, IndexMarks } from '../port/status.ts'
import { toHex } from '../record/hexBytes.ts'

/** What the single row of `meta` says. */
export interface ChainMeta {
  readonly identity: ChainIdentity
  readonly indexedFrom?: number
  /** Transactions stored. */
  readonly transactions: number
  readonly marks: IndexMarks
  readonly coverage: IndexCoverage
  readonly rollbacks: number
}

/** A row of `meta` as the driver gives it. */
export interface MetaColumns {
  readonly chain_id: number
  readonly genesis_hash: Buffer
  readonly indexed_from: number | null
  readonly transactions: number
  readonly backfilled: boolean
  readonly settled: boolean
  readonly finalized: number | null
  readonly degraded_until: number | null
  readonly rollbacks: number
  readonly detailed_from: number | null
  readonly traced_from: number | null
  readonly tallied_from: number | null
}

/** @throws {StoreError} there is no row. */
export function toMeta(row: MetaColumns | undefined): ChainMeta {
  if (row === undefined) throw new StoreError('the store does not say which chain it belongs to')
  return {
    identity: { chainId: row.chain_id, genesisHash: toHex(row.genesis_hash) },
    ...(row.indexed_from !== null && { indexedFrom: row.indexed_from }),
    transactions: row.transactions,
    marks: {
      backfilled: row.backfilled,
      settled: row.settled,
      degraded: row.degraded_until !== null,
      ...(row.finalized !== null && { finalized: row.finalized })
    },
    coverage: toCoverage(row),
    rollbacks: row.rollbacks
  }
}

function toCoverage({ detailed_from, traced_from, tallied_from }: MetaColumns): IndexCoverage {
  return {
    ...(detailed_from !== null && { detailedFrom: detailed_from }),
    ...(traced_from !== null && { tracedFrom: traced_from }),
    ...(tallied_from !== null && { talliedFrom: tallied_from })
  }
}

/** A block's number and hash as the driver gives them. */
export interface RefColumns {
  readonly number: number
  readonly hash: Buffer
}

export function toRef(row: RefColumns | undefined): BlockRef | undefined {
  return row === undefined ? undefined : { number: row.number, hash: toHex(row.hash) }
}
