import { StoreUnavailableError } from '../platform/errors.ts'
import { SnapshotLeases } from '../store/SnapshotLeases.ts'
import { ReadConnection } from './connection.ts'
import { sqlStateOf, tooManyConnections } from './driver.ts'
import { createCommitListener } from './notices.ts'

export interface PostgresPoolOptions {
  /** Maximum of snapshots that are open at once, and so of connections to each server. Default 16. */
  readonly connections?: number
  /**
   * A snapshot that was not read for so long is ended when another caller waits for one. Default 2 s: a caller that takes a
   * long answer slowly must not block the others.
   */
  readonly idleMs?: number
  /** Time limit of each answer of a server. Default 20 s. */
  readonly answerMs?: number
  /** An idle connection is closed after that. Default 30 s. */
  readonly keptMs?: number
  /** A replica that does not answer is tried again after that. Default 1 s. */
  readonly replicaRetryMs?: number
}

/** Connections that one process reads all its chains over. */
export type PostgresPool = ReturnType<typeof createPostgresPool>

/**
 * Creates the pool. Connections are opened when they are needed; a server that is away fails the calls that need it.
 * @param urls - the primary, then its read replicas, if any. Never logged and in no message: they may hold passwords.
 */
export function createPostgresPool(
  [primaryUrl, ...replicaUrls]: readonly [string, ...string[]],
  options: PostgresPoolOptions = {}
) {
  const { connections = 16, idleMs = 2_000, answerMs = 20_000 } = options
  const { keptMs = 30_000, replicaRetryMs = 1_000 } = options
  const open = (url: string) => new ReadServer(url, answerMs, keptMs)
  const primary = open(primaryUrl)
  const replicas = replicaUrls.map(open)
  const leases = new SnapshotLeases({ max: connections, idleMs })
  const commits = createCommitListener(primaryUrl)
  /** Replicas that have failed, with the timers of their next checks. */
  const away = new Map<ReadServer, NodeJS.Timeout>()
  let next = 0

  return {
    /** Each snapshot has a lease, and so a connection. */
    leases,
    answerMs,
    /** The server that is written to; its state is authoritative. */
    primary,
    /** Over a connection of its own, besides those of snapshots. */
    commits,
    /** Chooses the next replica in rotation, of those that answer and are fit; absent when there is none. */
    nextReplica(isFit: (replica: ReadServer) => boolean): ReadServer | undefined {
      const fit = replicas.filter(replica => !away.has(replica) && isFit(replica))
      return fit[next++ % fit.length]
    },
    /** Keeps a replica that has failed out of the rotation until it answers again. */
    passOver(replica: ReadServer): void {
      if (away.has(replica)) return
      const check = async () => {
        if (!(await replica.answers())) return
        clearInterval(away.get(replica))
        away.delete(replica)
      }
      away.set(replica, setInterval(check, replicaRetryMs).unref())
    },
    /** Ends every connection at once, those that are in use too. */
    async close(): Promise<void> {
      commits.close()
      for (const check of away.values()) clearInterval(check)
      for (const server of [primary, ...replicas]) server.close()
      leases.close()
    }
  }
}

/** Connections to one database server. */
export class ReadServer {
  readonly #url: string
  readonly #answerMs: number
  readonly #keptMs: number
  /** Idle connections, the last used one last, each with the timer that closes it. */
  readonly #idle = new Map<ReadConnection, NodeJS.Timeout>()
  readonly #open = new Set<ReadConnection>()
  /** Calls that wait for an open connection, since the server accepts no more. */
  readonly #waiting: (() => void)[] = []
  /** The last attempt to connect failed. */
  #isAway = false
  #isConnecting = false

  /**
   * @param url - never logged and in no message: it may hold a password.
   * @param answerMs - time limit of each answer.
   * @param keptMs - an idle connection is closed after that.
   */
  constructor(url: string, answerMs: number, keptMs: number) {
    this.#url = url
    this.#answerMs = answerMs
    this.#keptMs = keptMs
  }

  /**
   * Begins work over a connection. An idle one may have ended meanwhile: then the work begins again over a new one. Where the server
   * accepts no more connections, the call waits for an open one.
   * @returns the connection too: it is the caller's until `putBack`.
   * @throws {StoreUnavailableError} the server does not answer. While it is away one call at a time probes it; the others
   *   fail at once.
   */
  async begin<T>(
    work: (connection: ReadConnection) => Promise<T>
  ): Promise<{ readonly connection: ReadConnection; readonly begun: T }> {
    for (;;) {
      // The one that was used last, so that the others can be closed for being idle.
      const idle = [...this.#idle.keys()].at(-1)
      const connection = idle ?? (await this.#connect())
      if (connection === undefined) continue
      clearTimeout(this.#idle.get(connection))
      this.#idle.delete(connection)
      try {
        return { connection, begun: await work(connection) }
      } catch (error) {
        connection.drop()
        if (idle === undefined || !(error instanceof StoreUnavailableError)) throw error
        // The others were open when it ended, too.
        for (const each of this.#idle.keys()) each.drop()
      }
    }
  }

  /** Ends the transaction of a connection and keeps it; a broken one is closed. Never fails. */
  async putBack(connection: ReadConnection): Promise<void> {
    try {
      await connection.run('ROLLBACK')
    } catch {
      return connection.drop()
    }
    if (!this.#open.has(connection)) return
    this.#idle.set(connection, setTimeout(() => connection.drop(), this.#keptMs).unref())
    this.#waiting.shift()?.()
  }

  /** Probes the server. */
  async answers(): Promise<boolean> {
    try {
      const { connection } = await this.begin(probed => probed.run('SELECT 1'))
      await this.putBack(connection)
      return true
    } catch {
      return false
    }
  }

  close(): void {
    for (const connection of this.#open) connection.drop()
  }

  /** @returns absent where the server accepts no more, once an open connection is free or has ended. */
  async #connect(): Promise<ReadConnection | undefined> {
    if (this.#isAway && this.#isConnecting)
      throw new StoreUnavailableError('PostgreSQL did not answer a moment ago')
    this.#isConnecting = true
    try {
      const connection = await ReadConnection.open(this.#url, this.#answerMs, ended => this.#forget(ended))
      this.#isAway = false
      this.#open.add(connection)
      return connection
    } catch (error) {
      if (sqlStateOf(error) === tooManyConnections && this.#open.size > 0) {
        if (this.#idle.size === 0) await new Promise<void>(resolve => this.#waiting.push(resolve))
        return undefined
      }
      this.#isAway = true
      // No connection will come back that the others could have.
      for (const wake of this.#waiting.splice(0)) wake()
      throw error
    } finally {
      this.#isConnecting = false
    }
  }

  #forget(connection: ReadConnection): void {
    clearTimeout(this.#idle.get(connection))
    this.#idle.delete(connection)
    if (this.#open.delete(connection)) this.#waiting.shift()?.()
  }
}
