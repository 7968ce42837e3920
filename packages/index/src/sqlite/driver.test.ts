import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { availableSqliteDrivers } from '../../test/availableSqliteDrivers.ts'
import { StoreError } from '../platform/errors.ts'
import { isBusy, type SqliteConnection } from './driver.ts'
import { loadSqliteDriver } from './loadDriver.ts'

test('prefers the SQLite that Node brings along', () => {
  const builtIn = process.getBuiltinModule('node:sqlite') !== undefined
  expect(loadSqliteDriver().name).toBe(builtIn ? 'node:sqlite' : 'libsql')
})

describe.each(availableSqliteDrivers())('driver $name', driver => {
  let folder: string
  let connections: SqliteConnection[]

  const open = () => {
    const connection = driver.open(join(folder, 'a.sqlite'), { busyTimeoutMs: 0 })
    connections.push(connection)
    return connection
  }

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'chain-data-driver-'))
    connections = []
  })
  afterEach(() => {
    for (const connection of connections) connection.close()
    rmSync(folder, { recursive: true })
  })

  const table = (connection: SqliteConnection) => {
    connection.exec('CREATE TABLE t (a INTEGER PRIMARY KEY, b BLOB, c TEXT); CREATE TABLE u (d INTEGER)')
    return connection.prepare('INSERT INTO t VALUES (?, ?, ?)')
  }

  test('gives back numbers, text, bytes and nulls as they went in, by one row and by many', () => {
    const db = open()
    const insert = table(db)
    const backing = new Uint8Array([9, 1, 2, 3, 9])
    expect(insert.run([1, backing.subarray(1, 4), 'x'])).toBe(1)
    insert.run([2, Buffer.alloc(0), null])
    insert.run([Number.MAX_SAFE_INTEGER, null, ''])
    const rows = db.prepare('SELECT a, b, c FROM t ORDER BY a').all([])
    const one = db.prepare('SELECT a, b, c FROM t WHERE a = ?')
    const plain = (row: object | undefined) =>
      Object.entries(row ?? {}).map(([name, value]) => [
        name,
        value instanceof Uint8Array ? [...value] : value
      ])
    expect(rows.map(plain)).toEqual([1, 2, Number.MAX_SAFE_INTEGER].map(a => plain(one.get([a]))))
    expect(Object.keys(rows[0]!)).toEqual(['a', 'b', 'c'])
    expect(rows[0]!.b).toBeInstanceOf(Uint8Array)
    expect([...(rows[0]!.b as Uint8Array)]).toEqual([1, 2, 3])
    expect(rows[1]!.b).toHaveLength(0)
    expect(rows[2]).toMatchObject({ a: Number.MAX_SAFE_INTEGER, b: null, c: '' })
    expect(one.get([5])).toBeUndefined()
  })

  test('takes a single blob as parameter', () => {
    const db = open()
    table(db).run([1, Buffer.from('ab', 'hex'), null])
    expect(db.prepare('SELECT a FROM t WHERE b = ?').get([Buffer.from('ab', 'hex')])).toMatchObject({ a: 1 })
  })

  test('refuses an integer that a number cannot hold instead of rounding it', () => {
    const db = open()
    table(db)
    db.exec('INSERT INTO t VALUES (9007199254740993, NULL, NULL)')
    expect(() => db.prepare('SELECT a FROM t').get([])).toThrow(StoreError)
    expect(() => db.prepare('SELECT a FROM t').all([])).toThrow(StoreError)
  })

  test('names the SQLite code of a failure and keeps working after it', () => {
    const db = open()
    const insert = table(db)
    insert.run([1, null, null])
    const constraintPrimaryKey = 1555
    expect(() => insert.run([1, null, null])).toThrow(
      expect.objectContaining({ name: 'StoreError', context: { sqliteCode: constraintPrimaryKey } })
    )
    expect(() => db.prepare('SELECT * FROM missing')).toThrow(StoreError)
    expect(() => db.exec('NONSENSE')).toThrow(StoreError)
    expect(insert.run([2, null, null])).toBe(1)
  })

  test('a folder that does not exist is a StoreError', () => {
    expect(() => driver.open(join(folder, 'no', 'a.sqlite'), { busyTimeoutMs: 0 })).toThrow(StoreError)
  })

  test('tells a busy file from other failures', () => {
    const [first, second] = [open(), open()]
    first.exec('BEGIN EXCLUSIVE')
    let failure: unknown
    try {
      second.exec('BEGIN EXCLUSIVE')
    } catch (error) {
      failure = error
    }
    expect(isBusy(failure)).toBe(true)
    expect(isBusy(new StoreError('other'))).toBe(false)
    first.exec('ROLLBACK')
    second.exec('BEGIN EXCLUSIVE')
  })

  test('a read transaction keeps its view while another connection commits', () => {
    const writer = open()
    const insert = table(writer)
    writer.exec('PRAGMA journal_mode = WAL')
    insert.run([1, null, null])
    const reader = open()
    const count = reader.prepare('SELECT count(*) AS n FROM t')
    reader.exec('BEGIN')
    expect(count.get([])).toMatchObject({ n: 1 })
    insert.run([2, null, null])
    expect(count.get([])).toMatchObject({ n: 1 })
    reader.exec('COMMIT')
    expect(count.get([])).toMatchObject({ n: 2 })
  })

  test('close takes back an open transaction and gives up its locks, also with statements around', () => {
    const db = driver.open(join(folder, 'a.sqlite'), { busyTimeoutMs: 0 })
    const insert = table(db)
    db.exec('BEGIN EXCLUSIVE')
    insert.run([1, null, null])
    db.close()
    const other = open()
    other.exec('BEGIN EXCLUSIVE')
    expect(other.prepare('SELECT count(*) AS n FROM t').get([])).toMatchObject({ n: 0 })
    expect(() => insert.run([2, null, null])).toThrow(StoreError)
  })

  test('reports how many rows a statement changed', () => {
    const db = open()
    const insert = table(db)
    for (let a = 0; a < 5; a++) insert.run([a, null, null])
    expect(db.prepare('DELETE FROM t WHERE a > ?').run([1])).toBe(3)
    expect(db.prepare('INSERT OR IGNORE INTO t VALUES (1, NULL, NULL)').run([])).toBe(0)
  })
})
