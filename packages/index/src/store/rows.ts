import { parseSpans } from '../model/blockSpans.ts'
import type { Address, BlockRef, HoldingCandidate, PendingTransaction } from '../model/evm.ts'
import { describeOtherGenesis } from '../model/otherGenesis.ts'
import { StoreError } from '../platform/errors.ts'
import type {
  ChainIdentity,
  CoverageHeights,
  IndexCoverage,
  IndexMarks,
  StoredBlock,
  WriterReport
} from '../port/status.ts'
import { toHex } from '../record/hexBytes.ts'
import { decodePending } from '../record/record.ts'
import { standardOf, tokenIdsOf } from '../record/tokenKey.ts'
import type { ManifestMark } from '../runs/Manifest.ts'

/** The column of `meta` that holds each height of the coverage. */
const coverageColumns = {
  tracedFrom: 'traced_from',
  rootsFrom: 'roots_from'
} as const satisfies Required<Record<keyof CoverageHeights, string>>

/** Row of `meta`. */
export interface MetaRow
  extends Readonly<Record<(typeof coverageColumns)[keyof CoverageHeights], number | null>> {
  readonly id: number
  readonly chain_id: number
  readonly genesis_hash: Uint8Array
  readonly indexed_from: number | null
  readonly head: number | null
  readonly head_hash: Uint8Array | null
  readonly backfilled: number
  readonly settled: number
  readonly finalized: number | null
  readonly degraded_until: number | null
  readonly rollbacks: number
  readonly unknown_blocks: string | null
  readonly changes_log: string
  readonly changes_from: number
  readonly changes_to: number
  readonly manifest_version: number
  readonly manifest_sum: number
  readonly next_run: number
  readonly sum: number | null
}

/** The single row of `meta` as values. */
export interface ChainMeta {
  readonly identity: ChainIdentity
  readonly indexedFrom?: number
  /** Newest stored block. Its hash proves its row, as each row of a block proves the one before. */
  readonly head?: BlockRef
  readonly marks: IndexMarks
  readonly coverage: IndexCoverage
  readonly rollbacks: number
  readonly changes: LoggedChanges
  readonly runs: ManifestMark
}

/** The log of changes, as `meta` describes it. */
interface LoggedChanges {
  readonly log: string
  /** Changes after this entry can be replayed. */
  readonly from: number
  /** The newest entry; 0 while there is none. */
  readonly to: number
}

export function toMeta(row: MetaRow): ChainMeta {
  const { head: number, head_hash: hash } = row
  return {
    identity: { chainId: row.chain_id, genesisHash: toHex(row.genesis_hash) },
    ...(row.indexed_from !== null && { indexedFrom: row.indexed_from }),
    ...(number !== null && hash !== null && { head: toRef({ number, hash }) }),
    marks: {
      backfilled: Boolean(row.backfilled),
      settled: Boolean(row.settled),
      degraded: row.degraded_until !== null,
      ...(row.finalized !== null && { finalized: row.finalized })
    },
    coverage: {
      ...Object.fromEntries(
        Object.entries(coverageColumns).flatMap(([mark, column]) =>
          row[column] === null ? [] : [[mark, row[column]]]
        )
      ),
      ...(row.unknown_blocks !== null && { unknown: parseSpans(row.unknown_blocks) })
    },
    rollbacks: row.rollbacks,
    changes: { log: row.changes_log, from: row.changes_from, to: row.changes_to },
    runs: { version: row.manifest_version, sum: row.manifest_sum, next: row.next_run }
  }
}

/** @throws {StoreError} the store belongs to another chain than the one that is read. */
export function checkChain({ identity }: ChainMeta, chainId: number): void {
  if (identity.chainId === chainId) return
  throw new StoreError(`the store holds chain ${identity.chainId}, chain ${chainId} was asked for`, {
    stored: identity.chainId,
    chainId
  })
}

/**
 * @param aside - where this index would be kept, to make room for another.
 * @throws {StoreError} the store belongs to another chain.
 */
export function checkIdentity(stored: ChainIdentity, wanted: ChainIdentity, aside: string): void {
  if (stored.chainId !== wanted.chainId) {
    throw new StoreError(`the store holds chain ${stored.chainId}, the node serves chain ${wanted.chainId}`, {
      storedChainId: stored.chainId,
      chainId: wanted.chainId
    })
  }
  if (stored.genesisHash !== wanted.genesisHash) {
    const { chainId, genesisHash } = wanted
    const difference = describeOtherGenesis(chainId, genesisHash, stored.genesisHash)
    throw new StoreError(`chain ${chainId}: the node ${difference}`, {
      ...{ chainId, genesis: genesisHash, storedGenesis: stored.genesisHash, aside }
    })
  }
}

/** Row of a block's number and hash. */
export interface RefColumns {
  readonly number: number
  readonly hash: Uint8Array
}

export function toRef({ number, hash }: RefColumns): BlockRef {
  return { number, hash: toHex(hash) }
}

/** Row of a block. */
export interface BlockColumns extends RefColumns {
  readonly parent_hash: Uint8Array
  readonly timestamp_seconds: number
  readonly tx_count: number
}

export function toStoredBlock(row: BlockColumns): StoredBlock {
  return {
    ref: toRef(row),
    parentHash: toHex(row.parent_hash),
    timestampSeconds: row.timestamp_seconds,
    transactionCount: row.tx_count
  }
}

/** The column of `writer_report` that holds each member of a report. */
const reported = {
  phase: 'phase',
  head: 'head',
  finalized: 'finalized',
  indexedTo: 'indexed_to',
  rollingBackTo: 'rolling_back_to',
  poolCovered: 'pool_covered',
  poolAgeMs: 'pool_age_ms',
  problem: 'problem',
  headTimestampSeconds: 'head_seconds'
} as const satisfies Required<Record<keyof Omit<WriterReport, 'beat'>, string>>

/** Columns of a report from `phase` on. */
export const reportColumns = Object.values(reported)

/** Row of `writer_report`. SQLite stores booleans as numbers. */
export interface ReportColumns
  extends Readonly<Record<(typeof reportColumns)[number], boolean | number | string | null>> {
  readonly beat: number
}

/** The writer's last report; what it left out is absent. */
export function toWriterReport(row: ReportColumns): WriterReport {
  const members = Object.entries(reported).map(([member, column]) => [member, row[column]] as const)
  const known = members.filter(([, value]) => value !== null && value !== undefined)
  const report = { beat: row.beat, ...Object.fromEntries(known) }
  // Written by the writer of this port only.
  return { ...report, poolCovered: Boolean(row.pool_covered) } as WriterReport
}

/** Values of a report in the order of `reportColumns`. A NUL, which a node may send, has no place in a text of PostgreSQL. */
export function reportValues(report: Omit<WriterReport, 'beat'>): readonly (number | string | null)[] {
  return Object.keys(reported).map(member => {
    const value = report[member as keyof typeof reported] ?? null
    if (typeof value === 'string') return value.replaceAll('\0', '\ufffd')
    return typeof value === 'boolean' ? Number(value) : value
  })
}

export interface PendingColumns {
  readonly status: 0 | 1
  readonly seconds: number
  readonly rec: Uint8Array
}

/** Pool entries in the order of the port: next to be mined first, then nonce descending, then hash. */
export function toPending(rows: readonly PendingColumns[]): readonly PendingTransaction[] {
  return rows
    .map(({ status, seconds, rec }) => ({ ...decodePending(rec), status, firstSeenSeconds: seconds }))
    .sort((a, b) => {
      if (a.status !== b.status) return b.status - a.status
      if (a.nonce !== b.nonce) return a.nonce < b.nonce ? 1 : -1
      return a.hash < b.hash ? -1 : 1
    })
}

export interface HoldingColumns {
  readonly contract: Uint8Array
  /** An id or a range of them; see `writeToken`. */
  readonly tokenId: Uint8Array
  readonly standard: number
}

export function toCandidate(
  owner: Address,
  { contract, tokenId, standard }: HoldingColumns
): HoldingCandidate {
  return {
    owner: owner.toLowerCase() as Address,
    contract: toHex(contract),
    standard: standardOf(standard),
    ...tokenIdsOf(tokenId)
  }
}
