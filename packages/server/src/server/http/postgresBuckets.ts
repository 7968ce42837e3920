import { RateLimiterPostgres, type RateLimiterRes } from 'rate-limiter-flexible'
import type { Clock } from '../../platform/clock.ts'
import { MemoryBuckets, type QuotaRule, quotaOutcome, smallestPart } from './memoryBuckets.ts'
import type { QuotaDatabase, QuotaRows } from './quotaDatabase.ts'

interface Row {
  readonly points: number
  readonly expire: number
  readonly now: number
}

/**
 * Token buckets in a table that several servers share, as rate-limiter-flexible keeps its windows there: `expire` is
 * the moment at which a bucket is full, in milliseconds of the database's clock; `points` what the last call was given.
 *
 * @remarks One statement for any number of calls. While the database is away every process counts by itself.
 */
export class PostgresBuckets extends RateLimiterPostgres {
  readonly #rule: QuotaRule
  readonly #database: QuotaDatabase

  constructor(rule: QuotaRule, database: QuotaDatabase, clock: Clock) {
    super({
      points: rule.burst,
      duration: rule.burst / rule.requestsPerSecond,
      keyPrefix: '',
      storeClient: database.pool,
      storeType: 'pool',
      tableName: database.tableName,
      // Made and tidied up by the database's owner: the library tries once, and not again.
      tableCreated: true,
      clearExpiredByTimeout: false,
      insuranceLimiter: new MemoryBuckets(rule, clock)
    })
    this.#rule = rule
    this.#database = database
  }

  /** Overrides the library's window: adds what fits of `calls`; fewer than none gives calls back. */
  _upsert(key: string, calls: number): Promise<QuotaRows<Row>> {
    const { requestsPerSecond, burst } = this.#rule
    return this.#database.query<Row>({
      text: takeStatement(this.#database.tableName),
      values: [key, calls, 1_000 / requestsPerSecond, burst]
    })
  }

  /** Overrides how the library reads the row. */
  _getRateLimiterRes(_key: string, calls: number, { rows: [row] }: QuotaRows<Row>): RateLimiterRes {
    if (row === undefined) throw new Error('the statement returns one row')
    return quotaOutcome({ rule: this.#rule, calls, fitting: row.points, fullInMs: row.expire - row.now })
  }
}

function takeStatement(table: string): string {
  const now = 'extract(epoch FROM statement_timestamp())::float8 * 1000'
  const room = `floor($4::float8 - greatest(0, bucket.expire - (${now})) / $3::float8 + ${smallestPart})`
  const fitting = `least($2::int, greatest(0, ${room})::int)`
  return `INSERT INTO ${table} AS bucket (key, points, expire)
    VALUES ($1, least($2::int, $4::float8::int), ${now} + least($2::int, $4::float8::int) * $3::float8)
    ON CONFLICT (key) DO UPDATE SET
      points = ${fitting},
      expire = greatest(bucket.expire, ${now}) + ${fitting} * $3::float8
    RETURNING points, expire, ${now} AS now`
}
