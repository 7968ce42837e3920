import { damageOf, StoreUnavailableError } from '../platform/errors.ts'
import { type BlockRow, toRange } from '../store/blocks.ts'
import { chainStore, formatOf, requireFormat } from '../store/format.ts'
import type { IndexFacts } from '../store/IndexSnapshot.ts'
import { checkMeta } from '../store/meta.ts'
import { type ChainMeta, checkChain, type MetaRow } from '../store/rows.ts'
import { isCitus } from './citus.ts'
import type { ReadConnection } from './connection.ts'
import { sqlStateOf } from './driver.ts'
import { indexTables } from './indexTables.ts'
import { chainSchema } from './schema.ts'
import { beginRead, type ReadLimits } from './transaction.ts'

/** State of the index as a whole, read in the round trip that begins a view. */
interface ViewFacts extends Pick<IndexFacts, 'meta' | 'range'> {
  /** The server copies another one, which may be ahead of it. */
  readonly isReplica: boolean
  /**
   * Of a replica: how long ago the primary committed what it replayed last. Writers of indexes say something every second, so
   * more than that is lag. Infinite while it has replayed nothing, and of a server that replays nothing: a replica that was
   * promoted may have been left behind by its primary for good.
   */
  readonly lagMs: number
}

/** Facts of the server, and the rows of `meta` and of the newest block, whose columns are null where there is none. */
interface FactsRow extends Omit<BlockRow, 'number' | 'sum'>, Omit<MetaRow, 'id'> {
  /** Null where its row is lost. */
  readonly format: number | null
  readonly hasBlocks: boolean
  readonly isReplica: boolean
  readonly lagMs: number | null
  readonly number: number | null
  readonly blockSum: number | null
  readonly id: number | null
}

/** No such schema, table or column, or a statement was prepared for other columns: the store is not, or no longer, the one that was found. */
const otherSchema = ['3F000', '42P01', '42703', '0A000']

const readFacts = `
  SELECT (SELECT max(format) FROM store_format) AS format, EXISTS (SELECT FROM block) AS "hasBlocks",
    pg_is_in_recovery() AS "isReplica",
    extract(epoch FROM clock_timestamp() - pg_last_xact_replay_timestamp())::float8 * 1000 AS "lagMs",
    block.number, hash, parent_hash, timestamp_seconds, tx_count, extra, block.sum AS "blockSum", meta.*
  FROM (SELECT) AS one LEFT JOIN meta ON true LEFT JOIN block ON block.number = head`

/**
 * Begins a transaction in which all reads see the same state.
 * @param askAhead - called once the transaction is on its way: what it asks is answered in the same round trip.
 * @returns absent while the writer has not made the store.
 * @throws {StoreError} the store has another format or holds another chain.
 */
export type BeginView = (connection: ReadConnection, askAhead?: () => void) => Promise<ViewFacts | undefined>

/** Makes what begins the views of one chain. */
export function createBeginView(chainId: number, limits: ReadLimits): BeginView {
  let isOnNode: boolean | undefined
  return async (connection, askAhead) => {
    isOnNode ??= await findStore(connection, chainId)
    if (isOnNode === undefined) return undefined
    try {
      const begun = beginRead<FactsRow>(connection, chainSchema(chainId), limits, readFacts, isOnNode)
      askAhead?.()
      const [row] = await begun
      return row && toFacts(chainId, row)
    } catch (error) {
      if (!otherSchema.includes(sqlStateOf(error) ?? '')) throw error
      isOnNode = undefined
      throw new StoreUnavailableError(
        `the store of chain ${chainId} is being made anew`,
        {},
        { cause: error }
      )
    }
  }
}

/** @returns whether a node of Citus has the tables; absent: there is no index. Says so without an error: those are in the database's log. */
async function findStore(connection: ReadConnection, chainId: number): Promise<boolean | undefined> {
  const schema = chainSchema(chainId)
  const [found] = await connection.run(
    `SELECT to_regclass('${schema}.meta') IS NOT NULL AS "isThere", to_regclass('${schema}.store_format') IS NOT NULL AS "hasFormat", ${isCitus} AS "isCitus"`
  )
  const { isThere, hasFormat, isCitus: isOnNode } = found?.[0] ?? {}
  if (isThere !== true) return undefined
  const [stored] =
    hasFormat === true ? await connection.run(`SELECT max(format) AS format FROM ${schema}.store_format`) : []
  checkFormat(stored?.[0]?.format, chainId)
  return isOnNode === true
}

function toFacts(chainId: number, row: FactsRow): ViewFacts | undefined {
  const { format, hasBlocks, isReplica, lagMs, ...rows } = row
  const { number, hash, parent_hash, timestamp_seconds, tx_count, extra, blockSum: sum, ...metaRow } = rows
  const { id } = metaRow
  // The writer has made the tables, and not yet said for which chain.
  if (id === null && !hasBlocks) return undefined
  checkFormat(format, chainId)
  const meta = checkMeta(id === null ? undefined : { ...metaRow, id })
  checkChain(meta, chainId)
  const others = { hash, parent_hash, timestamp_seconds, tx_count, extra, sum }
  return {
    ...{ meta, isReplica, ...readRange(meta, number === null ? undefined : { number, ...others }) },
    lagMs: isReplica && lagMs !== null ? lagMs : Number.POSITIVE_INFINITY
  }
}

/** @returns nothing where the row is damaged: whoever asks for the range is told. */
function readRange(meta: ChainMeta, newest: BlockRow | undefined): Pick<IndexFacts, 'range'> {
  try {
    return { range: { found: toRange(meta, newest) } }
  } catch (error) {
    damageOf(error)
    return {}
  }
}

const ownFormat = formatOf(indexTables)

function checkFormat(stored: unknown, chainId: number): void {
  const format = stored == null ? undefined : Number(stored)
  requireFormat(format, ownFormat, chainStore(chainId, chainSchema(chainId)))
}
