import type { DeepHistoryCache } from '../../../model/deepHistory.ts'
import { chunkRecords, decodeHeld, hasLeft, useGrainMs } from '../../deepHistory/deepRows.ts'
import { hashBytes } from '../../record/hexBytes.ts'
import type { ClientBase, Pool } from '../driver.ts'
import { toStoreError } from '../error.ts'
import { evictAccounts, findAccount, lockCache, saveStretch, sweepDropped } from './accountStatements.ts'
import { deepSchema } from './deepMigrations.ts'

interface Options {
  readonly pool: Pool
  /** Makes the schema once. */
  prepare(): Promise<void>
  readonly chainId: number
  readonly bound: number
  readonly now: () => number
}

/** The cache of one chain; see `openPostgresDeepHistoryCaches`, whose `close` ends it. */
export function createPostgresDeepHistoryCache(options: Options): DeepHistoryCache {
  const { pool, prepare, chainId, bound, now } = options

  async function ask<T>(work: () => Promise<T>): Promise<T> {
    try {
      await prepare()
      return await work()
    } catch (error) {
      throw toStoreError(error)
    }
  }

  async function inTransaction(work: (client: ClientBase) => Promise<void>): Promise<void> {
    const client = await pool.connect()
    let failure: Error | undefined
    try {
      await client.query('BEGIN')
      await work(client)
      await client.query('COMMIT')
    } catch (error) {
      failure = error instanceof Error ? error : new Error(String(error))
      throw error
    } finally {
      // With an error the connection is ended, and the server forgets what was begun on it.
      client.release(failure)
    }
  }

  return {
    known: (address, anchor) =>
      ask(async () => {
        const account = await findAccount(pool, { chainId, address, anchor })
        if (account === undefined) return { recordsFrom: anchor.number, candidatesFrom: anchor.number }
        const nowMs = now()
        if (Math.abs(nowMs - account.used_at) > useGrainMs) {
          await pool.query(`UPDATE ${deepSchema}.account SET used_at = $1 WHERE id = $2`, [nowMs, account.id])
        }
        return { recordsFrom: account.records_from, candidatesFrom: account.candidates_from }
      }),

    async *records(address, anchor, { belowId, limit = Number.POSITIVE_INFINITY }) {
      const key = { chainId, address, anchor }
      const id = await ask(async () => (await findAccount(pool, key))?.id)
      if (id === undefined) return
      let below = belowId
      for (let left = limit; left > 0; ) {
        const most = Math.min(left, chunkRecords)
        const rows = await ask(async () => {
          const found = await pool.query<{ readonly tx: number; readonly rec: Buffer }>(
            `SELECT tx, rec FROM ${deepSchema}.record WHERE account = $1 AND tx < $2 ORDER BY tx DESC LIMIT $3`,
            [id, below, most]
          )
          // Still there afterwards, so it was there with all its records before.
          if ((await findAccount(pool, key))?.id !== id) throw hasLeft()
          return found.rows
        })
        const last = rows.at(-1)
        if (last === undefined) return
        yield { ids: rows.map(({ tx }) => tx), bytes: Buffer.concat(rows.map(({ rec }) => rec)) }
        below = last.tx
        left -= rows.length
      }
    },

    candidates: (address, anchor) =>
      ask(async () => {
        const account = await findAccount(pool, { chainId, address, anchor })
        if (account === undefined) return []
        const { rows } = await pool.query<{ readonly held: Buffer }>(
          `SELECT held FROM ${deepSchema}.candidate WHERE account = $1`,
          [account.id]
        )
        return rows.map(({ held }) => decodeHeld(address, held))
      }),

    lookUpHash: (hash, anchor) =>
      ask(async () => {
        const { rows } = await pool.query<{ readonly tx: number }>(
          `SELECT tx FROM ${deepSchema}.record JOIN ${deepSchema}.account ON account.id = record.account
           WHERE hash = $1 AND chain = $2 AND anchor_number = $3 AND anchor_hash = $4 LIMIT 1`,
          [hashBytes(hash), chainId, anchor.number, hashBytes(anchor.hash)]
        )
        return rows[0]?.tx
      }),

    save: (address, anchor, stretch) =>
      ask(() =>
        inTransaction(async client => {
          await lockCache(client, chainId)
          const keptId = await saveStretch(client, { chainId, address, anchor }, stretch, now())
          await evictAccounts(client, { chainId, keptId, bound })
          await sweepDropped(client)
        })
      ),

    async close() {}
  }
}
