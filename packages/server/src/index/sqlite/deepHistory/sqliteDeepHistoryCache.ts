import type { DeepHistoryCache, DeepKnowledge, DeepPart, DeepStretch } from '../../../model/deepHistory.ts'
import type { Address, BlockRef, Hash, HoldingCandidate } from '../../../model/evm.ts'
import { createYielder } from '../../../platform/concurrency/pause.ts'
import { StoreUnavailableError } from '../../../platform/errors.ts'
import { chunkRecords, decodeHeld, hasLeft, useGrainMs } from '../../deepHistory/deepRows.ts'
import { hashBytes } from '../../record/hexBytes.ts'
import type { SqliteConnection } from '../driver.ts'
import { isBusy } from '../error.ts'
import { inTransaction } from '../inTransaction.ts'
import { createAccountTable } from './accountTable.ts'

interface Options {
  readonly bound: number
  readonly now: () => number
}

/** See `openSqliteDeepHistoryCache`. */
export class SqliteDeepHistoryCache implements DeepHistoryCache {
  readonly #connection: SqliteConnection
  readonly #options: Options
  readonly #accounts: ReturnType<typeof createAccountTable>
  readonly #selectRecords
  readonly #selectCandidates
  readonly #selectHash
  readonly #checkYield = createYielder()
  #isOpen = true

  constructor(connection: SqliteConnection, options: Options) {
    this.#connection = connection
    this.#options = options
    this.#accounts = createAccountTable(connection)
    this.#selectRecords = connection.prepare<{ tx: number; rec: Uint8Array }>(
      'SELECT tx, rec FROM record WHERE account = ? AND tx < ? ORDER BY tx DESC LIMIT ?'
    )
    this.#selectCandidates = connection.prepare<{ held: Uint8Array }>(
      'SELECT held FROM candidate WHERE account = ?'
    )
    this.#selectHash = connection.prepare<{ tx: number }>(
      `SELECT tx FROM record JOIN account ON account.id = record.account
       WHERE hash = ? AND anchor_number = ? AND anchor_hash = ? LIMIT 1`
    )
  }

  async known(address: Address, anchor: BlockRef): Promise<DeepKnowledge> {
    return this.#passing(() => {
      const account = this.#accounts.find(address, anchor)
      if (account === undefined) return { recordsFrom: anchor.number, candidatesFrom: anchor.number }
      const nowMs = this.#options.now()
      if (Math.abs(nowMs - account.used_at) > useGrainMs) this.#accounts.markUsed(account, nowMs)
      return { recordsFrom: account.records_from, candidatesFrom: account.candidates_from }
    })
  }

  async *records(
    address: Address,
    anchor: BlockRef,
    { belowId, limit = Number.POSITIVE_INFINITY }: DeepPart
  ) {
    const id = this.#passing(() => this.#accounts.find(address, anchor)?.id)
    if (id === undefined) return
    let below = belowId
    for (let left = limit; left > 0; ) {
      await this.#checkYield()
      const rows = this.#passing(() => this.#selectRecords.all([id, below, Math.min(left, chunkRecords)]))
      // Still there afterwards, so it was there with all its records before.
      if (this.#passing(() => this.#accounts.find(address, anchor)?.id) !== id) throw hasLeft()
      const last = rows.at(-1)
      if (last === undefined) return
      yield { ids: rows.map(({ tx }) => tx), bytes: Buffer.concat(rows.map(({ rec }) => rec)) }
      below = last.tx
      left -= rows.length
    }
  }

  async candidates(address: Address, anchor: BlockRef): Promise<readonly HoldingCandidate[]> {
    return this.#passing(() => {
      const account = this.#accounts.find(address, anchor)
      if (account === undefined) return []
      return this.#selectCandidates.all([account.id]).map(({ held }) => decodeHeld(address, held))
    })
  }

  async lookUpHash(hash: Hash, anchor: BlockRef): Promise<number | undefined> {
    return this.#passing(
      () => this.#selectHash.get([hashBytes(hash), anchor.number, hashBytes(anchor.hash)])?.tx
    )
  }

  async save(address: Address, anchor: BlockRef, stretch: DeepStretch): Promise<void> {
    const { bound, now } = this.#options
    this.#passing(() =>
      inTransaction(this.#connection, () => {
        const id = this.#accounts.save(address, anchor, stretch, now())
        this.#accounts.evict(bound, id)
        this.#accounts.sweep()
      })
    )
  }

  async close(): Promise<void> {
    if (!this.#isOpen) return
    this.#isOpen = false
    this.#connection.close()
  }

  #passing<T>(work: () => T): T {
    if (!this.#isOpen) throw new StoreUnavailableError('the deep history cache is closed')
    try {
      return work()
    } catch (error) {
      if (!isBusy(error)) throw error
      throw new StoreUnavailableError(
        'the deep history cache is being written by another process',
        {},
        { cause: error }
      )
    }
  }
}
