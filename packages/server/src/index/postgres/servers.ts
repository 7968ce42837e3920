import { StoreError } from '../../platform/errors.ts'
import { SnapshotPlaces } from '../shared/snapshotPlaces.ts'
import { ReadServer } from './readServer.ts'

export interface PostgresPoolOptions {
  /** Most connections, to all servers together; as many snapshots may be open at once. Default 16. */
  readonly connections?: number
  /**
   * A snapshot that nothing was read from for so long is ended when another caller waits for one. Default 2 s: whoever
   * takes a long answer slowly must not keep the others from theirs.
   */
  readonly idleMs?: number
  /** How long to wait for each answer of a server. Default 20 s. */
  readonly answerMs?: number
  /** A connection that nobody used for so long is closed. Default 30 s. */
  readonly keptMs?: number
  /** A replica that does not answer is looked at again after that. Default 1 s. */
  readonly replicaRetryMs?: number
}

/** The connections that the queries of one process are asked over, of all its chains. */
export interface PostgresPool {
  /** Every snapshot has one of them, and so a connection. */
  readonly places: SnapshotPlaces
  readonly answerMs: number
  /** The server that is written to; what it says counts. */
  readonly primary: ReadServer
  /** The replica whose turn it is, of those that answer and are fit; absent when there is none. */
  nextReplica(isFit: (replica: ReadServer) => boolean): ReadServer | undefined
  /** Has nobody ask a replica that has failed, until it answers again. */
  passOver(replica: ReadServer): void
  /** @throws {StoreError} the pool is closed. */
  checkOpen(): void
  /** Ends every connection at once, those that are in use too. */
  close(): Promise<void>
}

/**
 * Connections are opened when they are needed; that a server is away is told by whoever asks it.
 * @param urls - the primary, then its read replicas, if any. Never logged and in no message: they may hold passwords.
 */
export function createPostgresPool(
  [primaryUrl, ...replicaUrls]: readonly [string, ...string[]],
  options: PostgresPoolOptions = {}
): PostgresPool {
  const { connections = 16, idleMs = 2_000, answerMs = 20_000 } = options
  const { keptMs = 30_000, replicaRetryMs = 1_000 } = options
  const places = new SnapshotPlaces({ places: connections, idleMs })
  // Whoever opens one has a place and no connection yet, so where there are too many one of them is idle.
  const makeRoom = () => {
    const servers = [...replicas, primary]
    const count = servers.reduce((sum, { size }) => sum + size, 0)
    if (count >= connections) servers.some(server => server.closeOneIdle())
  }
  const primary = new ReadServer(primaryUrl, { answerMs, keptMs, makeRoom })
  const replicas = replicaUrls.map(url => new ReadServer(url, { answerMs, keptMs, makeRoom }))
  const away = new Map<ReadServer, NodeJS.Timeout>()
  let turn = 0
  let isClosed = false

  const lookAgainLater = (replica: ReadServer) => {
    const look = async () => {
      if (await replica.askAgain()) away.delete(replica)
      else if (!isClosed) lookAgainLater(replica)
    }
    away.set(replica, setTimeout(look, replicaRetryMs).unref())
  }

  return {
    places,
    answerMs,
    primary,
    nextReplica(isFit) {
      const fit = replicas.filter(replica => !away.has(replica) && isFit(replica))
      return fit[turn++ % fit.length]
    },
    passOver(replica) {
      if (!isClosed && !away.has(replica)) lookAgainLater(replica)
    },
    checkOpen() {
      if (isClosed) throw new StoreError('the store is closed')
    },
    async close() {
      isClosed = true
      for (const timer of away.values()) clearTimeout(timer)
      for (const server of [primary, ...replicas]) server.close()
      places.close()
    }
  }
}
