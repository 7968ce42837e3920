import { StoreUnavailableError } from '../platform/errors.ts'
import type { IndexedRange } from '../port/status.ts'
import { maxTransactionsPerBlock } from '../record/transactionId.ts'
import { chainStore, formatOf, requireFormat } from '../shared/format.ts'
import { type ChainMeta, checkChain, type MetaColumns, toMeta, toRef } from '../shared/rows.ts'
import type { ReadConnection } from './connection.ts'
import { sqlStateOf } from './driver.ts'
import { requireBlock, requireSound } from './judged.ts'
import type { IdRange, ReadStatements } from './read.ts'
import { chainSchema, indexTables } from './schema.ts'

/** What a view says of the index as a whole; read in the round trip that opens it. */
export interface ViewFacts extends ChainMeta {
  /** Absent while nothing is indexed. */
  readonly range: IndexedRange | undefined
  /** The server copies another one, which may be ahead of it. */
  readonly isReplica: boolean
  /**
   * Of a replica: how long ago the primary committed what it replayed last. Writers of indexes say something every second, so
   * more than that is lag. Infinite while it has replayed nothing, and of a server that replays nothing: a replica that was
   * promoted may have been left behind by its primary for good.
   */
  readonly lagMs: number
  /** Ids of the partitions that the directory of addresses has; absent: none. */
  readonly listed: IdRange | undefined
}

/** The id above all that the view can have; 0 while nothing is indexed. */
export function endOfNewest({ range }: ViewFacts): number {
  return range === undefined ? 0 : (range.to.number + 1) * maxTransactionsPerBlock
}

interface ViewColumns extends MetaColumns {
  /** Null where its row is lost. */
  readonly format: number | null
  readonly isReplica: boolean
  readonly lagMs: number | null
  readonly directory_from: number | null
  readonly directory_end: number | null
  /** Number of the newest block; null while nothing is indexed. */
  readonly head: number | null
  /** Of its row; null where that is missing. */
  readonly number: number | null
  readonly hash: Buffer
  readonly timestamp_seconds: number
  readonly isSound: boolean | null
  readonly isMetaSound: boolean | null
}

/** No such schema, table or column: the store is not, or no longer, the one that was found. */
const otherSchema = ['3F000', '42P01', '42703']

/**
 * Makes what begins the views of one chain.
 * @returns a function that begins a transaction in which all reads see the same state. It gives nothing while the writer
 *   has not made the store, and throws a {StoreError} when the store has another format or holds another chain.
 */
export function createBeginView(
  chainId: number,
  statements: ReadStatements
): (connection: ReadConnection) => Promise<ViewFacts | undefined> {
  let begin: string | undefined
  return async connection => {
    begin ??= await findBegin(connection, chainId, statements)
    if (begin === undefined) return undefined
    try {
      const [row] = await connection.run(begin)
      return toFacts(row as unknown as ViewColumns, chainId)
    } catch (error) {
      if (!otherSchema.includes(sqlStateOf(error) ?? '')) throw error
      begin = undefined
      throw new StoreUnavailableError(
        `the store of chain ${chainId} is being made anew`,
        {},
        { cause: error }
      )
    }
  }
}

/** @returns the text that begins a view; absent: there is no index. */
async function findBegin(
  connection: ReadConnection,
  chainId: number,
  statements: ReadStatements
): Promise<string | undefined> {
  const [found] = await connection.run(statements.isThere)
  if (found?.isThere !== true) return undefined
  const [stored] = found.hasFormat === true ? await connection.run(statements.format) : []
  checkFormat(stored?.format, chainId)
  return found.isCitus === true ? statements.beginOnNode : statements.begin
}

function toFacts(row: ViewColumns | undefined, chainId: number): ViewFacts | undefined {
  // The writer has made the tables, and not yet said for which chain.
  if (row === undefined || row.rollbacks === null) return undefined
  checkFormat(row.format, chainId)
  const meta = toMeta(row)
  checkChain(meta, chainId)
  requireSound({ isSound: row.isMetaSound }, { part: 'meta' })
  if (row.head !== null) requireBlock(row, row.head)
  const { isReplica, lagMs } = row
  return {
    ...{ ...meta, range: toRange(meta.indexedFrom, row), isReplica, listed: toListed(row) },
    lagMs: isReplica && lagMs !== null ? lagMs : Number.POSITIVE_INFINITY
  }
}

const ownFormat = formatOf(indexTables)

function checkFormat(stored: unknown, chainId: number): void {
  const format = stored == null ? undefined : Number(stored)
  requireFormat(format, ownFormat, chainStore(chainId, chainSchema(chainId)))
}

function toListed({ directory_from: from, directory_end: end }: ViewColumns): IdRange | undefined {
  if (from === null || end === null) return undefined
  return { from: from * maxTransactionsPerBlock, end: end * maxTransactionsPerBlock }
}

function toRange(from: number | undefined, { number, hash, timestamp_seconds }: ViewColumns) {
  if (from === undefined || number === null) return undefined
  return { from, to: toRef({ number, hash }), toTimestampSeconds: timestamp_seconds }
}
