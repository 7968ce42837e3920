import type { Client } from './driver.ts'
import { insufficientPrivilege, sqlStateOf } from './error.ts'

/** What the server knows of the connection that holds the lock. */
interface Holder {
  readonly pid: number
  /** The connection waits for its client: what is missing is not the server's work. */
  readonly isWaiting: boolean
  /** Changes whenever anything was done over the connection. */
  readonly trace: string
}

/**
 * Watches the writer that holds a lock, for another one that waits for it. A process that has been stopped, or a machine that
 * is cut off, keeps its connection open for a long time: the server only learns of it by silence.
 *
 * A living writer says something every second, or is at work in the server. So one that the server has waited for, without
 * the least change, for the whole time is taken to be gone. If it is not, it loses its connection and nothing else.
 */
export class SilentLeader {
  readonly #client: Client
  readonly #holder: string
  readonly #silentMs: number
  #trace: string | undefined
  #sinceMs = 0

  /** @param key - the lock, as an SQL expression. */
  constructor(client: Client, key: string, silentMs: number) {
    this.#client = client
    this.#holder = selectHolder(key)
    this.#silentMs = silentMs
  }

  /**
   * Looks at it once; call it again and again. Ends its connection once it has been silent for long enough.
   * @returns the process id of the connection that was ended; absent when none was, also where the database's user may not
   *   see or end it.
   */
  async endIfSilent(): Promise<number | undefined> {
    const holder = await this.#look()
    const now = performance.now()
    const trace = holder?.isWaiting === true ? holder.trace : undefined
    if (trace === undefined || trace !== this.#trace) {
      this.#trace = trace
      this.#sinceMs = now
      return undefined
    }
    if (holder === undefined || now - this.#sinceMs < this.#silentMs) return undefined
    this.#trace = undefined
    return (await this.#end(holder.trace)) ? holder.pid : undefined
  }

  async #look(): Promise<Holder | undefined> {
    const { rows } = await this.#client.query<Holder>(this.#holder)
    return rows[0]
  }

  /** Only while still nothing has changed, which the same statement finds out. */
  async #end(trace: string): Promise<boolean> {
    try {
      const { rows } = await this.#client.query<{ ended: boolean }>(
        `SELECT pg_terminate_backend(pid) AS ended FROM (${this.#holder}) holder WHERE trace = $1`,
        [trace]
      )
      return rows[0]?.ended === true
    } catch (error) {
      // Another user's connection: waiting goes on.
      if (sqlStateOf(error) === insufficientPrivilege) return false
      throw error
    }
  }
}

function selectHolder(key: string): string {
  return `SELECT pid, coalesce(wait_event_type = 'Client', false) AS "isWaiting",
      concat_ws(' ', pid, backend_start, query_start, state_change, copy.bytes_processed) AS trace
    FROM pg_locks JOIN pg_stat_activity USING (pid)
      LEFT JOIN pg_stat_progress_copy copy USING (pid)
    WHERE locktype = 'advisory' AND granted AND objsubid = 1
      AND pg_locks.database = (SELECT oid FROM pg_database WHERE datname = current_database())
      AND (classid::bigint << 32 | objid::bigint) = ${key}`
}
