import type { Address } from '../../model/evm.ts'
import { toHex } from '../record/hexBytes.ts'
import { decodeConfirmed } from '../record/record.ts'
import { firstTransactionId, toPosition } from '../record/transactionId.ts'
import { rememberedBlocks, SenderNonces } from '../shared/senders.ts'
import type { SqliteConnection } from './driver.ts'

const recordsAtOnce = 2_000

/** What the index has confirmed since it was asked last. */
export interface NewlyConfirmed {
  /** Highest nonce of each sender. */
  readonly nonces: ReadonlyMap<Address, bigint>
  /** Blocks that were read before are not in the index any more. */
  readonly wentBack: boolean
}

/**
 * The highest nonce that each sender has in the newest 64 indexed blocks, read from the stored records: a restart or a
 * reorg leaves nothing behind that the index does not hold.
 */
export class ConfirmedNonces {
  readonly #statements: ReturnType<typeof prepare>
  readonly #remembered = new SenderNonces()
  #readTo: number
  #hash: string | undefined

  constructor(connection: SqliteConnection) {
    this.#statements = prepare(connection)
    this.#readTo = (this.#statements.head.get([])?.number ?? -1) - rememberedBlocks
  }

  /**
   * Reads the blocks up to `head`, the newest one, that it has not read yet.
   * @param onlyRecent - passes over those that are too old to be remembered.
   */
  advance(head: number, { onlyRecent = false } = {}): NewlyConfirmed {
    const wentBack = this.#hash !== undefined && this.#hash !== this.#hashAt(this.#readTo)
    if (wentBack) {
      this.#remembered.clear()
      this.#readTo = head - rememberedBlocks
    }
    if (onlyRecent) this.#readTo = Math.max(this.#readTo, head - rememberedBlocks)
    const nonces = this.#remembered.note(this.#recordsAfter(this.#readTo))
    this.#readTo = head
    this.#hash = this.#hashAt(head)
    this.#remembered.dropOld(head)
    return { nonces, wentBack }
  }

  /** Whether a transaction of this sender with this nonce or a higher one is in a remembered block. */
  covers(from: Address, nonce: bigint): boolean {
    return this.#remembered.covers(from, nonce)
  }

  /** A slice at a time. */
  *#recordsAfter(block: number) {
    for (let from = firstTransactionId(Math.max(0, block + 1)); ; ) {
      const rows = this.#statements.records.all([from])
      for (const { id, rec } of rows) yield decodeConfirmed(rec, toPosition(id))
      const newest = rows.at(-1)
      if (newest === undefined) return
      from = newest.id + 1
    }
  }

  #hashAt(block: number): string | undefined {
    const row = this.#statements.hash.get([block])
    return row && toHex(row.hash)
  }
}

function prepare(connection: SqliteConnection) {
  return {
    head: connection.prepare<{ number: number | null }>('SELECT max(number) AS number FROM block'),
    hash: connection.prepare<{ hash: Uint8Array }>('SELECT hash FROM block WHERE number = ?'),
    records: connection.prepare<{ id: number; rec: Uint8Array }>(
      `SELECT id, rec FROM tx WHERE id >= ? ORDER BY id LIMIT ${recordsAtOnce}`
    )
  }
}
