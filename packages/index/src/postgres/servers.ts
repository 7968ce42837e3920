import { StoreError, StoreUnavailableError } from '../platform/errors.ts'
import { SnapshotLeases } from '../store/SnapshotLeases.ts'
import { type CommitListener, createCommitListener } from './commitListener.ts'
import { ReadConnection } from './connection.ts'
import { sqlStateOf, tooManyConnections } from './driver.ts'

export interface PostgresPoolOptions {
  /** Maximum of connections, to all servers together; as many snapshots may be open at once. Default 16. */
  readonly connections?: number
  /**
   * A snapshot that was not read for so long is ended when another caller waits for one. Default 2 s: a caller that takes a
   * long answer slowly must not block the others.
   */
  readonly idleMs?: number
  /** How long to wait for each answer of a server. Default 20 s. */
  readonly answerMs?: number
  /** An idle connection is closed after that. Default 30 s. */
  readonly keptMs?: number
  /** A replica that does not answer is tried again after that. Default 1 s. */
  readonly replicaRetryMs?: number
}

/** Connections that one process reads all its chains over. */
export interface PostgresPool {
  /** Leases of snapshots: each snapshot has a lease, and so a connection. */
  readonly leases: SnapshotLeases
  readonly answerMs: number
  /** The server that is written to; its state is authoritative. */
  readonly primary: ReadServer
  /** Over a connection of its own, besides those of snapshots. */
  readonly commits: CommitListener
  /** Chooses the next replica in rotation, of those that answer and are fit; absent when there is none. */
  nextReplica(isFit: (replica: ReadServer) => boolean): ReadServer | undefined
  /** Keeps a replica that has failed out of the rotation until it answers again. */
  passOver(replica: ReadServer): void
  /** @throws {StoreError} the pool is closed. */
  checkOpen(): void
  /** Ends every connection at once, those that are in use too. */
  close(): Promise<void>
}

/**
 * Creates the pool. Connections are opened when they are needed; a server that is away fails the calls that need it.
 * @param urls - the primary, then its read replicas, if any. Never logged and in no message: they may hold passwords.
 */
export function createPostgresPool(
  [primaryUrl, ...replicaUrls]: readonly [string, ...string[]],
  options: PostgresPoolOptions = {}
): PostgresPool {
  const { connections = 16, idleMs = 2_000, answerMs = 20_000 } = options
  const { keptMs = 30_000, replicaRetryMs = 1_000 } = options
  const leases = new SnapshotLeases({ max: connections, idleMs })
  // A snapshot that is opened has a lease and no connection yet, so where there are too many one of them is idle.
  const makeRoom = () => {
    const servers = [...replicas, primary]
    const count = servers.reduce((sum, { size }) => sum + size, 0)
    if (count >= connections) servers.some(server => server.closeOneIdle())
  }
  const primary = new ReadServer(primaryUrl, { answerMs, keptMs, makeRoom })
  const replicas = replicaUrls.map(url => new ReadServer(url, { answerMs, keptMs, makeRoom }))
  const commits = createCommitListener(primaryUrl)
  const away = new Map<ReadServer, NodeJS.Timeout>()
  let next = 0
  let isClosed = false

  const retryLater = (replica: ReadServer) => {
    const retry = async () => {
      if (await replica.askAgain()) away.delete(replica)
      else if (!isClosed) retryLater(replica)
    }
    away.set(replica, setTimeout(retry, replicaRetryMs).unref())
  }

  return {
    leases,
    answerMs,
    primary,
    commits,
    nextReplica(isFit) {
      const fit = replicas.filter(replica => !away.has(replica) && isFit(replica))
      return fit[next++ % fit.length]
    },
    passOver(replica) {
      if (!isClosed && !away.has(replica)) retryLater(replica)
    },
    checkOpen() {
      if (isClosed) throw new StoreError('the store is closed')
    },
    async close() {
      isClosed = true
      commits.close()
      for (const timer of away.values()) clearTimeout(timer)
      for (const server of [primary, ...replicas]) server.close()
      leases.close()
    }
  }
}

export interface ReadServerOptions {
  /** How long to wait for each answer. */
  readonly answerMs: number
  /** An idle connection is closed after that. */
  readonly keptMs: number
  /** Called before one more is opened: closes another one where there are too many. */
  makeRoom(): void
}

/** Connections to one database server. */
export class ReadServer {
  readonly #url: string
  readonly #options: ReadServerOptions
  /** Idle connections, the last used one last, each with the timer that closes it. */
  readonly #idle = new Map<ReadConnection, NodeJS.Timeout>()
  readonly #open = new Set<ReadConnection>()
  #connecting = 0
  /** The last attempt to reach it failed. */
  #isAway = false
  /** A call is finding out whether it still is. */
  #isProbed = false
  /** The last attempt was refused because it has too many connections. */
  #isFull = false
  /** Calls that wait for one of the open connections. */
  readonly #waiting: (() => void)[] = []

  /** @param url - never logged and in no message: it may hold a password. */
  constructor(url: string, options: ReadServerOptions) {
    this.#url = url
    this.#options = options
  }

  /** Connections, those included that are being opened. */
  get size(): number {
    return this.#open.size + this.#connecting
  }

  /**
   * Begins work over a connection of its own. An idle connection may have ended meanwhile: then the work begins again over a
   * new one. Where the server accepts no more connections, the call waits for an open one.
   * @returns the connection too: it is the caller's until `putBack`.
   * @throws {StoreUnavailableError} the server does not answer. While it is away one call at a time probes it; the others
   *   fail at once.
   */
  async begin<T>(
    work: (connection: ReadConnection) => Promise<T>
  ): Promise<{ readonly connection: ReadConnection; readonly begun: T }> {
    const idle = this.#takeIdle()
    if (idle !== undefined) {
      try {
        return { connection: idle, begun: await work(idle) }
      } catch (error) {
        this.#discard(idle)
        if (!(error instanceof StoreUnavailableError)) throw error
        // The others were open when it ended, too.
        while (this.closeOneIdle()) {}
      }
    }
    const connection = await this.#connectUnlessFull()
    if (connection === undefined) return this.begin(work)
    try {
      return { connection, begun: await work(connection) }
    } catch (error) {
      this.#discard(connection)
      throw error
    }
  }

  /** Ends the transaction of a connection and keeps it; a broken one is closed. Never fails. */
  async putBack(connection: ReadConnection): Promise<void> {
    try {
      if (!connection.isBroken) await connection.run('ROLLBACK')
    } catch {
      // It is broken now.
    }
    if (connection.isBroken || !this.#open.has(connection)) this.#discard(connection)
    else this.#keep(connection)
  }

  /** @returns whether there was one to close. */
  closeOneIdle(): boolean {
    const [oldest] = this.#idle.keys()
    if (oldest !== undefined) this.#discard(oldest)
    return oldest !== undefined
  }

  /** Probes the server. @returns whether it answers. */
  async askAgain(): Promise<boolean> {
    try {
      const { connection } = await this.begin(asked => asked.run('SELECT 1'))
      this.#keep(connection)
      return true
    } catch {
      return false
    }
  }

  close(): void {
    for (const connection of [...this.#open]) this.#discard(connection)
  }

  /** @returns absent once an open connection is free, or has ended. */
  async #connectUnlessFull(): Promise<ReadConnection | undefined> {
    try {
      return await this.#connect()
    } catch (error) {
      if (!this.#isFull || this.#open.size === 0) {
        // No connection will come back that the others could have.
        for (const wake of this.#waiting.splice(0)) wake()
        throw error
      }
      if (this.#idle.size === 0) await new Promise<void>(resolve => this.#waiting.push(resolve))
      return undefined
    }
  }

  async #connect(): Promise<ReadConnection> {
    const isProbe = this.#isAway
    if (isProbe && this.#isProbed) {
      throw new StoreUnavailableError('PostgreSQL did not answer a moment ago')
    }
    if (isProbe) this.#isProbed = true
    this.#options.makeRoom()
    this.#connecting++
    try {
      const { answerMs } = this.#options
      const connection = await ReadConnection.open(this.#url, answerMs, ended => this.#forget(ended))
      this.#open.add(connection)
      this.#isAway = false
      this.#isFull = false
      return connection
    } catch (error) {
      this.#isAway = true
      this.#isFull = sqlStateOf(error) === tooManyConnections
      throw error
    } finally {
      this.#connecting--
      if (isProbe) this.#isProbed = false
    }
  }

  #keep(connection: ReadConnection): void {
    const timer = setTimeout(() => this.#discard(connection), this.#options.keptMs)
    this.#idle.set(connection, timer.unref())
    this.#waiting.shift()?.()
  }

  /** Takes the one that was used last, so that the others can be closed for being idle. */
  #takeIdle(): ReadConnection | undefined {
    const connection = [...this.#idle.keys()].at(-1)
    if (connection !== undefined) {
      clearTimeout(this.#idle.get(connection))
      this.#idle.delete(connection)
    }
    return connection
  }

  #discard(connection: ReadConnection): void {
    connection.drop()
    this.#forget(connection)
  }

  #forget(connection: ReadConnection): void {
    clearTimeout(this.#idle.get(connection))
    this.#idle.delete(connection)
    this.#open.delete(connection)
    this.#waiting.shift()?.()
  }
}
