import { hash } from 'node:crypto'
import type { ChunkReads, FoundChunk } from '../runs/chunkReads.ts'
import type {
  FoundRecords,
  ReadTransaction,
  Value,
  WritableStore,
  WriteTransaction
} from '../runs/Transaction.ts'
import type { ReadConnection } from './connection.ts'
import { copyRows } from './copyRows.ts'
import { bytesText, numbersText, valueLiteral } from './literals.ts'
import { commitChannel } from './notices.ts'
import type { WriterSession } from './session.ts'

/** Carries out a statement that has a `?` for each value. @returns its rows. */
type Ask = <R extends object>(text: string, values: readonly Value[]) => Promise<readonly R[]>

/**
 * Settings of a transaction that reads. Every table has one index that answers, and only plans that walk it are left: such a plan is
 * made once for a connection and stays right while the tables grow, also without statistics.
 */
const readSettings: Readonly<Record<string, string>> = {
  plan_cache_mode: 'force_generic_plan',
  enable_seqscan: 'off',
  enable_bitmapscan: 'off',
  enable_sort: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  enable_memoize: 'off',
  max_parallel_workers_per_gather: '0',
  jit: 'off',
  bytea_output: 'hex'
}

/** When the server gives up a transaction of a reader. */
export interface ReadLimits {
  /** After a statement of that length. */
  readonly answerMs: number
  /** When nothing was asked for so long. */
  readonly idleMs: number
}

/**
 * Begins a transaction that reads the tables of a schema. Its statements leave together and are prepared: to plan them anew each time
 * would take the server longer than all else that a view begins with.
 * @param isOnNode - a node of Citus has the tables: the settings have to reach it.
 * @param facts - a statement that is asked as soon as the settings are made.
 * @returns the rows of `facts`.
 */
export async function beginRead<R extends object>(
  connection: ReadConnection,
  schema: string,
  { answerMs, idleMs }: ReadLimits,
  facts: string,
  isOnNode = false
): Promise<readonly R[]> {
  const settings = {
    ...readSettings,
    search_path: schema,
    statement_timeout: String(answerMs),
    idle_in_transaction_session_timeout: String(idleMs)
  }
  const calls = Object.entries(settings).map(([name, value]) => `set_config('${name}', '${value}', true)`)
  // One value, because the driver spends time on each column.
  const set = `SELECT concat(${calls})`
  const { all } = createReadTransaction(connection, schema)
  const begun = [
    connection.run('BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY'),
    all(set),
    // Reading a table, the settings are made where it is. Its one row is there before anything that they matter to.
    ...(isOnNode ? [all(`${set} FROM meta`)] : [])
  ]
  const [rows] = await Promise.all([all<R>(facts), ...begun])
  return rows
}

/**
 * Creates the reads of the transaction that a connection has open, which began with {@link beginRead}.
 * @param schema - of the tables. Connections are shared by chains, so names of prepared statements carry it.
 */
export function createReadTransaction(
  connection: Pick<ReadConnection, 'ask'>,
  schema: string
): ReadTransaction {
  return createReads((text, values) => {
    let statement = prepared.get(text)
    if (statement === undefined) {
      // The same in all processes: poolers hand connections on.
      statement = { name: hash('md5', text), text: withNumbers(text, values) }
      prepared.set(text, statement)
    }
    const name = `${schema}.${statement.name}`
    return connection.ask({ name, text: statement.text }, values) as Promise<readonly never[]>
  })
}

/** Statements of readers, with their names. */
const prepared = new Map<string, { readonly name: string; readonly text: string }>()

/** Creates the store of a writer of a chain that has the term. The session is its own from now on. */
export function createWritableStore(session: WriterSession, chainId: number): WritableStore {
  const wakeReaders = `NOTIFY ${commitChannel(chainId)}; COMMIT`
  let isOpen = false
  return {
    reads: createReads((text, values) => session.read(withNumbers(text, values), values)),
    async write(work, { isLong = false, isQuiet = false } = {}) {
      // A second BEGIN would only be warned of, and its COMMIT would be that of both.
      if (isOpen) throw new Error('a transaction of this store is open; expected one at a time')
      isOpen = true
      try {
        return await writeOnce(session, work, isQuiet ? 'COMMIT' : wakeReaders, isLong)
      } finally {
        isOpen = false
      }
    },
    close: () => session.close()
  }
}

/**
 * Statements are collected, and leave with the next read or with COMMIT, in one round trip.
 * @param end - commits.
 */
async function writeOnce<T>(
  session: WriterSession,
  work: (transaction: WriteTransaction) => Promise<T>,
  end: string,
  isLong: boolean
): Promise<T> {
  let statements = [session.begin]
  let copied: Uint8Array[] = []
  /** After a failure nothing more is sent: the server has no transaction then. */
  let last: Promise<readonly object[]> | undefined
  let isOver = false

  const collect = (statement: string, rows?: Uint8Array) => {
    if (isOver) throw new Error('the transaction is over')
    statements.push(statement)
    if (rows !== undefined) copied.push(rows)
  }
  const copy = (
    table: string,
    columns: readonly string[],
    rows: readonly (readonly Value[])[],
    widths?: number[]
  ) => {
    if (rows.length === 0) return
    collect(`COPY ${table} (${columns.join(', ')}) FROM STDIN (FORMAT binary)`, copyRows(rows, widths))
  }
  const send = <R extends object>(statement: string): Promise<readonly R[]> => {
    collect(statement)
    const [script, rows] = [statements, copied]
    statements = []
    copied = []
    const sendNow = () => session.send<R>(script, rows, { isLong })
    const answer = last === undefined ? sendNow() : last.then(sendNow)
    // Whoever asked, or the commit, reports it.
    answer.catch(() => {})
    last = answer
    return answer
  }

  const reads = createReads((text, values) => send(withLiterals(text, values)))
  const transaction: WriteTransaction = {
    ...reads,
    run: async (text, values = []) => collect(withLiterals(text, values)),
    insert: async (table, columns, rows) => copy(table, columns, rows),
    async putRecords(ids, records, ends) {
      const recordAt = (row: number) => records.subarray(ends[row - 1] ?? 0, ends[row])
      copy(
        'tx',
        ['id', 'rec'],
        Array.from(ids, (id, row) => [id, recordAt(row)])
      )
    },
    async putChunks(chunks) {
      const columns = ['run', 'number', 'section', 'lower', 'bytes']
      const rows = chunks.map(({ run, number, section, lower, bytes }) => [
        run,
        number,
        section,
        lower,
        bytes
      ])
      copy('chunk', columns, rows, [8, 4, 2])
    },
    async runAfter(number) {
      const text = 'SELECT min(run) AS run FROM chunk WHERE run > ?'
      const [row] = await reads.all<{ run: number | null }>(text, [number])
      return row?.run ?? undefined
    },
    async dropChunks(run, most) {
      const [row] = await reads.all<{ dropped: number }>(dropText, [run, most])
      return row?.dropped ?? 0
    }
  }
  try {
    const result = await work(transaction)
    const committed = send(end)
    isOver = true
    await committed
    return result
  } catch (error) {
    isOver = true
    // What has failed was taken back by the session.
    await last?.then(() => session.send(['ROLLBACK'])).catch(() => {})
    throw error
  }
}

/** The ORDER BY makes the server walk the key. */
const dropText = `WITH gone AS (
    DELETE FROM chunk WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM chunk WHERE run = ? ORDER BY section, lower LIMIT ?
    )) RETURNING 1
  ) SELECT count(*) AS dropped FROM gone`

/** Chunks as one row, because each row costs several times what reading its chunk does: number and length of each, then all bytes. */
const packed = (chunks: string) => `SELECT string_agg(bytes, '') AS bytes,
    string_agg(int4send(coalesce(number, -1)) || int4send(coalesce(octet_length(bytes), 0)), '') AS heads FROM (${chunks}) chunks`

interface PackedChunks {
  readonly bytes: Buffer | null
  readonly heads: Buffer | null
}

/** A subquery that is cut by LIMIT is looked up for each search in turn, whatever the planner knows, and so keeps their order. */
const findText = packed(
  `SELECT number, bytes FROM unnest(?::bigint[], ?::smallint[], ?::bytea[]) AS wanted (run, section, key)
   LEFT JOIN LATERAL (
     SELECT number, bytes FROM chunk WHERE run = wanted.run AND section = wanted.section AND lower <= wanted.key
     ORDER BY lower DESC LIMIT 1
   ) found ON true`
)
const scanText = packed(
  'SELECT number, bytes FROM chunk WHERE run = ? AND section = ? AND lower >= ? ORDER BY lower LIMIT ?'
)
/** OFFSET 0 does the same for records. Outer join, so that a missing one shows. */
const recordsText = `SELECT max(id) FILTER (WHERE rec IS NULL) AS missing, string_agg(rec, '') AS bytes,
    string_agg(int4send(octet_length(rec)), '') AS lengths
  FROM unnest(?::bigint[]) AS wanted (id) LEFT JOIN LATERAL (
    SELECT rec FROM tx WHERE tx.id = wanted.id OFFSET 0
  ) found ON true`

function createReads(ask: Ask): ReadTransaction {
  const chunks: ChunkReads = {
    // First the runs of the newest blocks, which are not merged yet.
    searchesAtOnce: [12, 64],
    async find(searches) {
      if (searches.length === 0) return []
      const [row] = await ask<PackedChunks>(findText, [
        numbersText(searches.map(({ run }) => run)),
        numbersText(searches.map(({ section }) => section)),
        bytesText(searches.map(({ key }) => key))
      ])
      return unpack(row)
    },
    async scan(run, section, from, limit) {
      const [row] = await ask<PackedChunks>(scanText, [run, section, from, limit])
      return unpack(row).filter(chunk => chunk !== undefined)
    }
  }
  return {
    ...chunks,
    // More would be fewer round trips for long histories only; a record may have 128 KiB.
    recordsAtOnce: 256,
    all: async (text, values = []) => ask(text, values),
    async recordsOf(ids): Promise<FoundRecords | { readonly missing: number }> {
      const [row] = await ask<{ missing: number | null; bytes: Buffer | null; lengths: Buffer | null }>(
        recordsText,
        [numbersText(ids)]
      )
      const { missing, bytes, lengths } = row ?? {}
      if (typeof missing === 'number') return { missing }
      return { bytes: bytes ?? Buffer.alloc(0), lengths: lengths ? integersOf(lengths) : [] }
    }
  }
}

function unpack(row: PackedChunks | undefined): (FoundChunk | undefined)[] {
  const heads = row?.heads ? integersOf(row.heads) : []
  const found: (FoundChunk | undefined)[] = []
  let start = 0
  for (let i = 0; i < heads.length; i += 2) {
    const [number = -1, length = 0] = [heads[i], heads[i + 1]]
    const bytes = row?.bytes?.subarray(start, start + length)
    found.push(number < 0 || bytes === undefined ? undefined : { number, bytes })
    start += length
  }
  return found
}

function integersOf(bytes: Buffer): number[] {
  return Array.from({ length: bytes.length / 4 }, (_, i) => bytes.readInt32BE(i * 4))
}

/** Replaces each `?` by the number of its value. */
function withNumbers(text: string, values: readonly Value[]): string {
  return fill(text, values, (_, position) => `$${position + 1}`)
}

function withLiterals(text: string, values: readonly Value[]): string {
  return fill(text, values, valueLiteral)
}

/** Puts something in the place of each `?` that is not inside of a quoted text. */
function fill(
  text: string,
  values: readonly Value[],
  put: (value: Value, position: number) => string
): string {
  let position = 0
  const filled = text.replace(/'[^']*'|\?/g, found =>
    found === '?' ? put(values[position] ?? null, position++) : found
  )
  if (position === values.length) return filled
  throw new TypeError(`a statement has ${position} placeholders and ${values.length} values: ${text}`)
}
