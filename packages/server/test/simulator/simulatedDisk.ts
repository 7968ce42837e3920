import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { StoreError } from '@chain-data/index'
import {
  chainFiles,
  loadSqliteDriver,
  type SqliteConnection,
  type SqliteDriver,
  type SqliteStatement,
  toSqliteError as toStoreError
} from '@chain-data/index/test'
import type { Random } from '../../../devnet/src/platform/createRandom.ts'

/**
 * What happens to one SQLite call:
 * - `fails`: it is not carried out, SQLITE_IOERR.
 * - `unheard`: it is carried out, and fails all the same. For a commit: whether it is stored is unknown.
 * - `slow`: it blocks its thread for some seconds, as an fsync of a busy disk does.
 * - `kills`: the process dies before it.
 * - `flips`: one bit of the bytes that it reads is another one, as on a disk that has lost it.
 */
export type CallFault = 'fails' | 'unheard' | 'slow' | 'kills' | 'flips'

/**
 * What is left of the files when the server dies:
 * - `whole`: the process was killed. Everything that it wrote is there, committed or not.
 * - `cut`: the machine was lost. Of what was written since the last fsync a first part is there, up to any byte: commits are
 *   lost, and the last one may be torn.
 * - `torn`: the same, but any of the sectors may be there, in any order.
 * - `misdirected`: the same, and one sector was written over another one.
 */
export const remains = ['whole', 'cut', 'torn', 'misdirected'] as const
type Remains = (typeof remains)[number]

/** SQLite over a disk that fails. Its files are real ones, in memory where there is room. */
export interface SimulatedDisk {
  /** Drivers of the server that lives now: for its writer, on which faults fall, for its readers, and for the check in the background. */
  drivers(): { readonly writer: SqliteDriver; readonly reader: SqliteDriver; readonly check: SqliteDriver }
  readonly folder: string
  /** Something happens at the `n`th writing call of the writer from now; bits flip in calls of the readers. */
  plan(fault: CallFault, n: number): void
  /** Writing fails with SQLITE_FULL. */
  isFull: boolean
  /** Bits and rows that were lost so far. */
  readonly flips: number
  /** A row of the index is lost for good, or a bit of it, as on a disk that forgets a page. */
  lose(): void
  /** Ends all connections as they are. The files of the next server are made of what is left. */
  die(what: Remains): void
  /** Takes back everything that is planned. */
  calm(): void
}

const sectorBytes = 512
/** Of a write-ahead log, fsynced when the log begins anew, before anything else of it is written. */
const walHeaderBytes = 32
const slowMs = 4_000
const [ioError, full] = [10, 13]
/** One commit in so many is followed by a checkpoint, as larger chains have them. */
const checkpointShare = 12

/** @param options.onKill - runs when a planned death comes; has to call `die`. */
export function createSimulatedDisk(
  root: string,
  options: {
    readonly random: Random
    readonly chainId: number
    block(ms: number): void
    note(event: string): void
    count(name: string): void
    onKill(): void
  }
): SimulatedDisk {
  const { random, chainId, block, note, count, onKill } = options
  const real = loadSqliteDriver()
  let open = new Set<SqliteConnection>()
  let life = 0
  let flips = 0
  /** The write-ahead log at its last fsync. */
  let durable: Buffer = Buffer.alloc(0)
  let planned: { readonly fault: CallFault; left: number } | undefined

  const folderOf = (number: number) => `${root}/${number}`
  const databaseOf = (number: number) => chainFiles(folderOf(number), chainId).database
  const read = (path: string) => (existsSync(path) ? readFileSync(path) : Buffer.alloc(0))
  const synced = () => {
    durable = read(`${databaseOf(life)}-wal`)
  }

  /** Bits flip in what readers read, all else befalls the writer. */
  function takeFault(reading: boolean): CallFault | undefined {
    if (planned === undefined || (planned.fault === 'flips') !== reading || --planned.left > 0)
      return undefined
    const { fault } = planned
    planned = undefined
    return fault
  }

  function carryOut<T>(
    connection: SqliteConnection,
    own: number,
    sql: string,
    writes: boolean,
    work: () => T
  ): T {
    if (own !== life) throw new StoreError('the process is dead')
    if (sql === 'ROLLBACK') return work()
    if (writes && disk.isFull) {
      note(`disk full: ${nameOf(sql)}`)
      count('full')
      rollBack(connection)
      throw toStoreError(new Error('database or disk is full'), full)
    }
    const fault = writes ? takeFault(false) : undefined
    if (fault !== undefined) {
      note(`${fault}: ${nameOf(sql)}`)
      count(fault)
    }
    if (sql.startsWith('DELETE FROM tx WHERE')) count('rollbacks')
    if (fault === 'kills') {
      onKill()
      throw new StoreError('the process is dead')
    }
    if (fault === 'slow') block(slowMs)
    if (fault === 'fails') throw toStoreError(new Error('disk I/O error'), ioError)
    const result = work()
    if (fault === 'unheard') throw toStoreError(new Error('disk I/O error'), ioError)
    if (sql === 'COMMIT' && random.below(checkpointShare) === 0) {
      connection.exec('PRAGMA wal_checkpoint(PASSIVE)')
      note('checkpoint')
      synced()
    }
    return result
  }

  function readBack<T>(own: number, sql: string, work: () => T): T {
    const found = alive(own, work)
    // Another format is refused, whatever made it another one. The count of commits is on no disk.
    const isSpared = sql === 'PRAGMA user_version' || sql === 'PRAGMA data_version'
    if (isSpared || takeFault(true) === undefined) return found
    const rows = (Array.isArray(found) ? found : [found]) as Record<string, unknown>[]
    const row = rows[random.below(rows.length)] ?? {}
    const names = Object.keys(row).filter(name => isFlippable(row[name]))
    const name = names[random.below(names.length)]
    if (name === undefined) return found
    note(`flips: ${name} of ${nameOf(sql)}`)
    count('flips')
    flips++
    row[name] = flipped(row[name], random)
    return found
  }

  function driver(own: number, suffers: boolean): SqliteDriver {
    const wrap = (connection: SqliteConnection): SqliteConnection => {
      open.add(connection)
      const call = <T>(sql: string, writes: boolean, work: () => T) =>
        suffers ? carryOut(connection, own, sql, writes, work) : readBack(own, sql, work)
      return {
        exec: sql => call(sql, true, () => connection.exec(sql)),
        prepare: <Row extends object>(sql: string): SqliteStatement<Row> => {
          const statement = alive(own, () => connection.prepare<Row>(sql))
          return {
            run: parameters => call(sql, true, () => statement.run(parameters)),
            get: parameters => call(sql, false, () => statement.get(parameters)),
            all: parameters => call(sql, false, () => statement.all(parameters))
          }
        },
        close() {
          if (!open.delete(connection)) return
          connection.close()
          if (suffers) synced()
        }
      }
    }
    return { name: real.name, open: (path, how) => alive(own, () => wrap(real.open(path, how))) }
  }

  function alive<T>(own: number, work: () => T): T {
    if (own !== life) throw new StoreError('the process is dead')
    return work()
  }

  const disk: SimulatedDisk = {
    drivers: () => ({ writer: driver(life, true), reader: driver(life, false), check: real }),
    get folder() {
      return folderOf(life)
    },
    isFull: false,
    get flips() {
      return flips
    },
    lose() {
      const harm = random.pick<{ readonly table: string; readonly sql: string }>(harms)
      const place = random.below(2 ** 20)
      let connection: SqliteConnection | undefined
      try {
        connection = real.open(databaseOf(life), { busyTimeoutMs: 0 })
        const { n = 0 } =
          connection.prepare<{ n: number }>(`SELECT count(*) AS n FROM ${harm.table}`).get([]) ?? {}
        const row = `SELECT rowid FROM ${harm.table} ORDER BY rowid LIMIT 1 OFFSET ${n === 0 ? 0 : place % n}`
        if (n > 0) connection.exec(`${harm.sql} WHERE rowid = (${row})`)
        if (n > 0) flips++
        note(`${harm.sql}: ${n} rows`)
        count('lost rows')
      } catch (error) {
        // The writer is in the middle of a transaction, or there is no index yet.
        note(`nothing is lost: ${String(error)}`)
      } finally {
        connection?.close()
      }
    },
    plan(fault, n) {
      planned = { fault, left: n }
    },
    die(what) {
      // Read before the connections close, which would tidy up.
      const [database, log] = [read(databaseOf(life)), read(`${databaseOf(life)}-wal`)]
      const left = what === 'whole' ? log : whatIsLeft(durable, log, what, random)
      const ended = open
      open = new Set()
      life++
      for (const connection of ended) connection.close()
      mkdirSync(folderOf(life), { recursive: true })
      if (database.length > 0) writeFileSync(databaseOf(life), database)
      if (left.length > 0) writeFileSync(`${databaseOf(life)}-wal`, left)
      planned = undefined
      synced()
    },
    calm() {
      disk.isFull = false
      planned = undefined
    }
  }
  mkdirSync(folderOf(life), { recursive: true })
  return disk
}

/** What the disk loses, one row at a time. */
const harms = [
  { table: 'chunk', sql: 'DELETE FROM chunk' },
  {
    table: 'chunk',
    sql: "UPDATE chunk SET bytes = CAST(substr(bytes, 1, 2) || x'5a' || substr(bytes, 4) AS BLOB)"
  },
  { table: 'tx', sql: 'DELETE FROM tx' },
  { table: 'tx', sql: "UPDATE tx SET rec = CAST(substr(rec, 1, 40) || x'ff' || substr(rec, 42) AS BLOB)" },
  { table: 'block', sql: 'DELETE FROM block' },
  { table: 'block', sql: 'UPDATE block SET timestamp_seconds = 7' },
  { table: 'block_extra', sql: 'DELETE FROM block_extra' },
  { table: 'run', sql: 'DELETE FROM run' }
] as const

function isFlippable(value: unknown): boolean {
  return (value instanceof Uint8Array && value.length > 0) || (typeof value === 'number' && value > 1)
}

function flipped(value: unknown, random: Random): unknown {
  if (typeof value === 'number') return value + (random.below(2) === 0 ? 1 : -1) * 2 ** random.below(8)
  const bytes = Buffer.from(value as Uint8Array)
  const bit = random.below(bytes.length * 8)
  bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) ^ (1 << (bit & 7))
  return bytes
}

function rollBack(connection: SqliteConnection): void {
  try {
    connection.exec('ROLLBACK')
  } catch {
    // There was no transaction.
  }
}

/** The log after the loss of a machine: what was fsynced, and some of what was written since. */
function whatIsLeft(durable: Buffer, written: Buffer, what: Remains, random: Random): Buffer {
  const left = Buffer.from(written)
  const changed: number[] = []
  for (let at = 0; at < written.length; at += sectorBytes) {
    const end = Math.min(at + sectorBytes, written.length)
    if (
      durable.compare(written, at, end, Math.min(at, durable.length), Math.min(end, durable.length)) !== 0
    ) {
      changed.push(at)
    }
  }
  const forget = (from: number, to: number) => {
    left.fill(0, from, to)
    durable.copy(left, from, Math.min(from, durable.length), Math.min(to, durable.length))
  }
  if (what === 'cut') {
    const first = changed[0] ?? written.length
    const cut = first + random.below(written.length - first + 1)
    if (durable.length >= written.length) forget(cut, written.length)
    else {
      forget(cut, Math.max(cut, durable.length))
      return withHeader(left.subarray(0, Math.max(cut, durable.length)), written)
    }
  } else {
    for (const at of changed) if (random.below(2) === 0) forget(at, Math.min(at + sectorBytes, left.length))
    const [from, to] = [changed[random.below(changed.length)], changed[random.below(changed.length)]]
    if (what === 'misdirected' && from !== undefined && to !== undefined) {
      written.copy(left, to, from, Math.min(from + sectorBytes, written.length))
    }
  }
  return withHeader(left, written)
}

function withHeader(left: Buffer, written: Buffer): Buffer {
  written.copy(left, 0, 0, Math.min(walHeaderBytes, left.length))
  return left
}

/** The first words of a statement. */
function nameOf(sql: string): string {
  return sql.trim().replace(/\s+/g, ' ').slice(0, 40)
}
