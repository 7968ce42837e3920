import pg from 'pg'
import type { Logger } from '../../platform/logger.ts'

/** At most `burst` calls at once and `requestsPerSecond` on average. */
export interface QuotaRule {
  readonly requestsPerSecond: number
  readonly burst: number
}

/** Token buckets by key. A bucket is stored as the moment at which it will be full again. */
export interface Buckets {
  /** Takes as many calls as fit; a negative number gives calls back. */
  take(key: string, rule: QuotaRule, calls: number): Taken | Promise<Taken>
}

interface Taken {
  readonly taken: number
  /** Time until the bucket is full again. */
  readonly fullInMs: number
}

/** Tolerance of a count: calls are whole, and time is not. */
export const smallestPart = 1e-6

/** The table that quotas are counted in, and whether its database answers. */
export interface QuotaDatabase {
  readonly pool: pg.Pool
  readonly tableName: string
  /** @throws when the database is away: at once while it has not answered a moment ago. */
  query<R extends pg.QueryResultRow>(query: pg.QueryConfig): Promise<pg.QueryResult<R>>
  close(): Promise<void>
}

/** Back-off after a failure of the database. */
const pauseMs = 1_000
/** Rows that one statement removes: a call for one of them waits until they all are gone. */
const tidiedAtOnce = 10_000
const tableName = 'chain_data_quota'

/**
 * Opens the database at its first use, and makes the table there when it is missing. Full buckets are removed.
 *
 * @param url - `postgres://...`; never logged.
 * @param options.longestWaitMs - for a connection, and again for an answer.
 * @param options.tidyEveryMs - how often full buckets are removed; absent: every five minutes.
 * @remarks That the database is away is logged once, and once that it is back. The table is not logged by the
 *   database: what a crash of it costs is some calls more.
 */
export function openQuotaDatabase(
  url: string,
  options: {
    readonly now?: () => number
    readonly logger: Logger
    readonly longestWaitMs: number
    readonly tidyEveryMs?: number
  }
): QuotaDatabase {
  const { now = () => performance.now(), logger, longestWaitMs, tidyEveryMs = 300_000 } = options
  const pool = new pg.Pool({
    connectionString: url,
    max: 10,
    connectionTimeoutMillis: longestWaitMs,
    query_timeout: longestWaitMs,
    idleTimeoutMillis: 30_000,
    allowExitOnIdle: true,
    application_name: 'chain-data quota'
  })
  // Of idle connections; those in use fail with their query.
  pool.on('error', () => {})
  let table: Promise<unknown> | undefined
  let awaySinceMs: number | undefined

  const tidy = setInterval(() => {
    if (table !== undefined && awaySinceMs === undefined) removeFullBuckets(pool).catch(() => {})
  }, tidyEveryMs)
  tidy.unref()

  return {
    pool,
    tableName,
    async query(query) {
      if (awaySinceMs !== undefined) {
        if (now() - awaySinceMs < pauseMs) throw new Error('the database of the quotas is away')
        // One call finds out; the others do not wait for it.
        awaySinceMs = now()
      }
      try {
        table ??= createTable(pool)
        await table
        const result = await pool.query(query)
        if (awaySinceMs !== undefined) logger.info('the database of the quotas answers again')
        awaySinceMs = undefined
        return result
      } catch (error) {
        table = undefined
        if (awaySinceMs === undefined) {
          logger.warn('the database of the quotas is away; this process counts by itself', { error })
        }
        awaySinceMs = now()
        throw error
      }
    },
    async close() {
      clearInterval(tidy)
      await pool.end()
    }
  }
}

/** Other servers do the same: rows that they have taken are left to them. */
async function removeFullBuckets(pool: pg.Pool): Promise<void> {
  const full = `SELECT key FROM ${tableName} WHERE expire < extract(epoch FROM now())::float8 * 1000
    LIMIT ${tidiedAtOnce} FOR UPDATE SKIP LOCKED`
  for (let removed: number | null = tidiedAtOnce; removed === tidiedAtOnce; ) {
    removed = (await pool.query(`DELETE FROM ${tableName} WHERE key IN (${full})`)).rowCount
  }
}

async function createTable(pool: pg.Pool): Promise<void> {
  // A user who may use the table and not make one would be refused even where it is there.
  const { rows } = await pool.query(`SELECT to_regclass('${tableName}') IS NOT NULL AS "isThere"`)
  if (rows[0]?.isThere === true) return
  try {
    await pool.query(`CREATE UNLOGGED TABLE IF NOT EXISTS ${tableName} (
      key text PRIMARY KEY,
      points integer NOT NULL,
      expire double precision NOT NULL
    )`)
  } catch (error) {
    // Two servers started at once: the other one made it.
    const code = error instanceof pg.DatabaseError ? error.code : undefined
    if (code !== '23505' && code !== '42P07') throw error
  }
}

interface Row {
  readonly points: number
  readonly expire: number
  readonly now: number
}

/**
 * Token buckets in a table that several servers share: `expire` is the moment at which a bucket is full, in
 * milliseconds of the database's clock; `points` what the last call was given.
 *
 * @param fallback - counts while the database is away.
 * @remarks One statement for any number of calls.
 */
export function createDatabaseBuckets(database: QuotaDatabase, fallback: Buckets): Buckets {
  return {
    async take(key, rule, calls) {
      const values = [key, calls, 1_000 / rule.requestsPerSecond, rule.burst]
      const result = await database.query<Row>({ text: takeStatement, values }).catch(() => undefined)
      if (result === undefined) return fallback.take(key, rule, calls)
      const [row] = result.rows
      if (row === undefined) throw new Error('the statement returns one row')
      return { taken: row.points, fullInMs: row.expire - row.now }
    }
  }
}

const nowMs = 'extract(epoch FROM statement_timestamp())::float8 * 1000'
const room = `floor($4::float8 - greatest(0, bucket.expire - (${nowMs})) / $3::float8 + ${smallestPart})`
const fitting = `least($2::int, greatest(0, ${room})::int)`
const takeStatement = `INSERT INTO ${tableName} AS bucket (key, points, expire)
  VALUES ($1, least($2::int, $4::float8::int), ${nowMs} + least($2::int, $4::float8::int) * $3::float8)
  ON CONFLICT (key) DO UPDATE SET
    points = ${fitting},
    expire = greatest(bucket.expire, ${nowMs}) + ${fitting} * $3::float8
  RETURNING points, expire, ${nowMs} AS now`
