import type { Address } from '../../model/evm.ts'
import { decodeConfirmed } from '../record.ts'
import { firstTransactionId, toPosition } from '../transactionId.ts'
import type { SqliteConnection } from './driver.ts'
import { toHex } from './hexBytes.ts'

/** How long a node may go on listing what a block has ended. */
const rememberedBlocks = 64
/** Bounds the memory where blocks are full: the senders of the newest transactions are kept. */
const mostSenders = 100_000
const recordsAtOnce = 2_000
/** EIP-2718 types whose nonce the protocol counts. Types of rollups' own carry nonces that end nothing. */
const lastCountedType = 4

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
  /** Oldest block first. */
  readonly #bySender = new Map<Address, { readonly nonce: bigint; readonly block: number }>()
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
      this.#bySender.clear()
      this.#readTo = head - rememberedBlocks
    }
    if (onlyRecent) this.#readTo = Math.max(this.#readTo, head - rememberedBlocks)
    const nonces = new Map<Address, bigint>()
    for (const { from, nonce, blockNumber } of this.#recordsAfter(this.#readTo)) {
      const highest = (known: bigint | undefined) => (known !== undefined && known > nonce ? known : nonce)
      nonces.set(from, highest(nonces.get(from)))
      const known = this.#bySender.get(from)
      this.#bySender.delete(from)
      this.#bySender.set(from, { nonce: highest(known?.nonce), block: blockNumber })
    }
    this.#readTo = head
    this.#hash = this.#hashAt(head)
    this.#drop(head - rememberedBlocks)
    return { nonces, wentBack }
  }

  /** Whether a transaction of this sender with this nonce or a higher one is in a remembered block. */
  covers(from: Address, nonce: bigint): boolean {
    const confirmed = this.#bySender.get(from)
    return confirmed !== undefined && nonce <= confirmed.nonce
  }

  #drop(upToBlock: number): void {
    for (const [from, { block }] of this.#bySender) {
      if (block > upToBlock && this.#bySender.size <= mostSenders) return
      this.#bySender.delete(from)
    }
  }

  /** A slice at a time. */
  *#recordsAfter(block: number) {
    for (let from = firstTransactionId(Math.max(0, block + 1)); ; ) {
      const rows = this.#statements.records.all([from])
      for (const { id, rec } of rows) {
        const transaction = decodeConfirmed(rec, toPosition(id))
        if (transaction.type <= lastCountedType) yield transaction
      }
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
