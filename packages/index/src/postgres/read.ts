import { entriesAtOnce } from '../shared/replayChanges.ts'
import { isCitus } from './citus.ts'
import { partitionsOf } from './directory.ts'
import { isSound } from './judged.ts'
import { allDamagedParts, candidates, countedPart, poolAddresses, reorgedHashes } from './keyParts.ts'
import { bytesLiteral } from './literals.ts'
import { chainSchema } from './schema.ts'

/** Statements of the reader that are prepared once for each connection, under these names. */
export interface ReadStatements {
  /** Whether there is a store at all. Says so without an error: those are in the database's log. */
  readonly isThere: string
  readonly format: string
  /** Begins the transaction of a snapshot and reads what most answers need: one text, one round trip. */
  readonly begin: string
  /** The same in a database with Citus, where the settings have to reach the node that has the tables. */
  readonly beginOnNode: string
  readonly partitions: Statement
  /** Of one address in one range; with the partitions that may have more where that is less than asked for. */
  readonly records: Statement
  /** The same in several ranges, newest first. */
  recordsIn(ranges: readonly IdRange[], address: Uint8Array, limit: number): string
  readonly count: Statement
  readonly hash: Statement
  /** One row at least, which says whether all keys that begin alike are there. */
  readonly reorged: Statement
  readonly pending: Statement
  readonly holdings: Statement
  /** Whether the candidates of all owners whose addresses begin like one are those that were written. */
  readonly candidatesWhole: Statement
  readonly report: Statement
  /** As `records`, and names missing rows. */
  readonly audited: Statement
  /** Rows of the address index between two addresses: 20 bytes and the id, 8 bytes, of each. */
  readonly rowsBetween: Statement
  readonly checksumPage: Statement
  readonly damagedParts: Statement
  readonly events: Statement
  /** Those of one address in some blocks. */
  readonly eventsIn: Statement
  readonly block: Statement
  /** Blocks of a range, with what links them. */
  readonly blocksBetween: Statement
  readonly recordsBetween: Statement
  readonly eventsBetween: Statement
  readonly undoBetween: Statement
  /** Entries of the log of changes from one on. */
  readonly logFrom: Statement
  /** Two of them, without their bytes. */
  readonly logFacts: Statement
  /** Those that appended blocks of a range. */
  readonly logAppended: Statement
  /** The first one that removed a block. */
  readonly logRemoval: Statement
  readonly recordsById: Statement
}

/** Transaction ids from `from` up to, but not with, `end`. */
export interface IdRange {
  readonly from: number
  readonly end: number
}

export interface Statement {
  readonly name: string
  readonly text: string
}

/**
 * Settings of one transaction, not of the connection: poolers hand connections on. What is chosen by statistics is chosen
 * wrong while they are missing or old, and every large table has exactly one index that answers; so only plans that walk it
 * are left, made anew for each call, when the partitions outside its bounds are not even opened.
 */
const settings: Readonly<Record<string, string>> = {
  plan_cache_mode: 'force_custom_plan',
  enable_seqscan: 'off',
  enable_bitmapscan: 'off',
  enable_sort: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  enable_material: 'off',
  enable_memoize: 'off',
  max_parallel_workers_per_gather: '0',
  jit: 'off',
  bytea_output: 'hex'
}

/**
 * The reader's SQL for one chain. All names carry their schema, so that one connection serves every chain.
 * @param limits.answerMs - the server gives up a statement after that.
 * @param limits.idleMs - and a transaction that nothing was asked in for so long.
 */
export function createReadStatements(
  chainId: number,
  limits: { readonly answerMs: number; readonly idleMs: number }
): ReadStatements {
  const schema = chainSchema(chainId)
  const named = (name: string, text: string): Statement => ({ name: `${schema}.${name}`, text })
  const local = Object.entries({
    ...settings,
    statement_timeout: String(limits.answerMs),
    idle_in_transaction_session_timeout: String(limits.idleMs)
  })
  const sound = (table: Parameters<typeof isSound>[1], alias?: string) =>
    isSound(chainId, table, alias, `${schema}.`)
  const entries = `SELECT *, ${sound('change_log')} AS "isSound" FROM ${schema}.change_log`
  const setLocal = local.map(([name, value]) => `set_config('${name}', '${value}', true)`)

  // The first read fixes what the transaction sees, so it is in here.
  const begin = (settingsOnNode: string) => `BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY;
      SELECT ${setLocal.join(', ')}; ${settingsOnNode}
      SELECT format, pg_is_in_recovery() AS "isReplica",
        extract(epoch FROM clock_timestamp() - pg_last_xact_replay_timestamp())::float8 * 1000 AS "lagMs", chain_id, genesis_hash, indexed_from, backfilled, settled,
        finalized, degraded_until, transactions, rollbacks, traced_from, tallied_from, roots_from, unknown_blocks,
        changes_log, changes_from, changes_to, directory_from, directory_end, head, ${sound('meta')} AS "isMetaSound", number, hash, timestamp_seconds, "isSound"
      FROM (SELECT max(format) AS format FROM ${schema}.store_format) stored
        LEFT JOIN ${schema}.meta ON true
        LEFT JOIN LATERAL (
          SELECT number, hash, timestamp_seconds, ${sound('block')} AS "isSound"
          FROM ${schema}.block WHERE number = meta.head
        ) newest ON true`

  return {
    isThere: `SELECT to_regclass('${schema}.meta') IS NOT NULL AS "isThere", to_regclass('${schema}.store_format') IS NOT NULL AS "hasFormat", ${isCitus} AS "isCitus"`,
    format: `SELECT max(format) AS format FROM ${schema}.store_format`,
    begin: begin(''),
    // Reading a table, the settings are made where it is. Its one row is there before anything that they matter to.
    beginOnNode: begin(`SELECT ${setLocal.join(', ')} FROM ${schema}.meta;`),
    partitions: named(
      'partitions',
      `SELECT pg_get_expr(part.relpartbound, part.oid) AS bound FROM pg_inherits
       JOIN pg_class part ON part.oid = inhrelid WHERE inhparent = '${schema}.address_tx'::regclass`
    ),
    records: named(
      'records',
      `SELECT stretch.*, CASE WHEN count < $4 THEN ${partitionsOf(schema, '$5', '$6')} END AS partitions
       FROM (${stretchOf(schema, [{ from: '$2', end: '$3' }], '$1', '$4')}) stretch`
    ),
    recordsIn: (ranges, address, limit) => stretchOf(schema, ranges, bytesLiteral(address), String(limit)),
    count: named(
      'count',
      `SELECT count(*) AS n FROM (
         SELECT FROM ${schema}.address_tx WHERE address = $1 AND tx_id >= $2 AND tx_id < $3 LIMIT $4
       ) counted`
    ),
    hash: named(
      'hash',
      // Sorted by its caller: told to sort, the planner might rather walk all ids.
      `SELECT id, rec FROM ${schema}.tx
       WHERE ${schema}.hash_key(rec) = $1 AND id >= $2 AND id < $3`
    ),
    reorged: named(
      'reorged',
      `SELECT counted.*, reorged.hash IS NOT NULL AS "isFound", ancestor_number AS number, ancestor_hash AS hash, ${sound('reorged')} AS "isSound"
       FROM ${countedPart(reorgedHashes, `${schema}.`, '$1')} LEFT JOIN ${schema}.reorged ON reorged.hash = $1`
    ),
    pending: named(
      'pending',
      `SELECT "isWhole", own.pool_id IS NOT NULL AS "isFound", p.status, p.first_seen_seconds AS seconds, p.rec, ${sound('pool', 'p')} AS "isSound"
       FROM ${countedPart(poolAddresses, `${schema}.`, '$1', 'array_agg(pool_id) FILTER (WHERE address = $1) AS ids')}
         LEFT JOIN LATERAL unnest(ids) AS own (pool_id) ON true LEFT JOIN ${schema}.pool p ON p.id = own.pool_id`
    ),
    holdings: named(
      'holdings',
      `SELECT contract, token_id AS "tokenId", standard FROM ${schema}.holding
       WHERE owner = $1 AND (contract, token_id, standard) > ($2, $3, $4)
       ORDER BY contract, token_id, standard LIMIT $5`
    ),
    candidatesWhole: named(
      'candidates_whole',
      `SELECT "isWhole" FROM ${countedPart(candidates, `${schema}.`, '$1')}`
    ),
    report: named('report', `SELECT *, ${sound('writer_report')} AS "isSound" FROM ${schema}.writer_report`),
    audited: named(
      'audited',
      `SELECT string_agg(int8send(id), '') AS ids, string_agg(rec, '') AS bytes,
         string_agg(int4send(octet_length(rec)), '') AS lengths,
         string_agg(int8send(id), '') FILTER (WHERE rec IS NULL) AS "withoutRecord",
         string_agg(int8send(id), '') FILTER (WHERE block IS NULL) AS "withoutBlock",
         string_agg(int8send(id), '') FILTER (WHERE block IS NOT NULL AND "isSound" IS NOT TRUE) AS "inAlteredBlock"
       FROM (
         SELECT a.tx_id AS id, t.rec, b.number AS block, b."isSound" FROM ${schema}.address_tx a
         LEFT JOIN LATERAL (
           SELECT rec FROM ${schema}.tx WHERE tx.id = a.tx_id AND tx.id >= $2 AND tx.id < $3 OFFSET 0
         ) t ON true
         LEFT JOIN LATERAL (
           SELECT number, ${sound('block')} AS "isSound" FROM ${schema}.block
           WHERE block.number = a.tx_id >> 16 OFFSET 0
         ) b ON true
         WHERE a.address = $1 AND a.tx_id >= $2 AND a.tx_id < $3
         ORDER BY a.tx_id DESC LIMIT $4
       ) stretch`
    ),
    rowsBetween: named(
      'rows_between',
      `SELECT string_agg(address || int8send(tx_id), '') AS rows FROM (
         SELECT address, tx_id FROM ${schema}.address_tx
         WHERE (address, tx_id) > ($1, $2) AND address < $3 AND tx_id >= $4 AND tx_id < $5
         ORDER BY address, tx_id LIMIT $6
       ) stretch`
    ),
    checksumPage: named('checksumPage', `SELECT rec FROM ${schema}.tally WHERE page = $1`),
    damagedParts: named('damaged_parts', allDamagedParts('$1', '$2', `${schema}.`)),
    events: named(
      'events',
      `SELECT block, rec, ${sound('account_event')} AS "isSound" FROM ${schema}.account_event
       WHERE address = $1 AND block > $2
       ORDER BY block LIMIT $3`
    ),
    eventsIn: named(
      'events_in',
      `SELECT block, rec, ${sound('account_event')} AS "isSound" FROM ${schema}.account_event
       WHERE address = $1 AND block = ANY ($2::bigint[])`
    ),
    blocksBetween: named(
      'blocks_between',
      `SELECT number, hash, parent_hash AS "parentHash", tx_count AS transactions, ${sound('block')} AS "isSound" FROM ${schema}.block
       WHERE number BETWEEN $1 AND $2 ORDER BY number`
    ),
    recordsBetween: named(
      'records_between',
      `SELECT id, rec FROM ${schema}.tx WHERE id >= $1 AND id < $2 ORDER BY id LIMIT $3`
    ),
    eventsBetween: named(
      'events_between',
      `SELECT block, ${sound('account_event')} AS "isSound" FROM ${schema}.account_event
       WHERE block + 0 >= $1 AND block + 0 <= $2`
    ),
    undoBetween: named(
      'undo_between',
      `SELECT block, ${sound('undo')} AS "isSound" FROM ${schema}.undo WHERE block BETWEEN $1 AND $2`
    ),
    block: named(
      'block',
      `SELECT number, hash, parent_hash, timestamp_seconds, tx_count, ${sound('block')} AS "isSound"
       FROM ${schema}.block WHERE number = $1`
    ),
    logFrom: named('log_from', `${entries} WHERE entry >= $1 ORDER BY entry LIMIT ${entriesAtOnce}`),
    logFacts: named(
      'log_facts',
      `SELECT entry, previous, kind, first_block, last_block, needs FROM ${schema}.change_log
       WHERE entry >= $1 ORDER BY entry LIMIT 2`
    ),
    // Sorted by its caller: told to sort, the planner might rather walk all entries.
    logAppended: named(
      'log_appended',
      `${entries} WHERE kind = 1 AND last_block >= $1 AND first_block <= $2 AND entry >= $3 AND entry < $4`
    ),
    logRemoval: named(
      'log_removal',
      `${entries} WHERE kind = 2 AND entry > $1 AND first_block <= $2 AND last_block >= $2 ORDER BY entry LIMIT 1`
    ),
    recordsById: named(
      'records_by_id',
      `SELECT id, rec FROM ${schema}.tx WHERE id = ANY ($1::bigint[]) AND id >= $2 AND id <= $3`
    )
  }
}

/**
 * Returns the SQL for a stretch of a history as one row: the ids, 8 bytes each, and the records one after the other. The inner
 * ORDER BY makes both follow the index, and ranges are read one after the other. Outer join, so that a missing record shows: a list
 * must not be cut silently. OFFSET 0 keeps the planner from turning the look-ups into a join of whole partitions; the bounds of the
 * records are the same as those of the ids, so that only their partitions are opened.
 */
function stretchOf(
  schema: string,
  ranges: readonly { readonly from: number | string; readonly end: number | string }[],
  address: string,
  limit: string
): string {
  const parts = ranges.map(
    ({ from, end }) => `(
      SELECT a.tx_id AS id, t.rec FROM ${schema}.address_tx a
      LEFT JOIN LATERAL (
        SELECT rec FROM ${schema}.tx WHERE tx.id = a.tx_id AND tx.id >= ${from} AND tx.id < ${end} OFFSET 0
      ) t ON true
      WHERE a.address = ${address} AND a.tx_id >= ${from} AND a.tx_id < ${end}
      ORDER BY a.tx_id DESC LIMIT ${limit}
    )`
  )
  return `SELECT count(*) AS count, string_agg(int8send(id), '') AS ids, string_agg(rec, '') AS bytes,
      string_agg(int4send(octet_length(rec)), '') AS lengths, max(id) FILTER (WHERE rec IS NULL) AS missing
    FROM (SELECT * FROM (${parts.join(' UNION ALL ')}) part LIMIT ${limit}) stretch`
}
