import type { StoredBlocks } from './encodeBlock.ts'
import { decodeExtra } from './extra.ts'
import type { PackedBlocks } from './packBlocks.ts'
import { hashLength, hashOffset } from './RecordParts.ts'
import { RecordRows, type RowRoles } from './RecordRows.ts'
import { damaged } from './recordBytes.ts'
import { firstTransactionId, maxTransactionsPerBlock } from './transactionId.ts'

/** Rows of consecutive blocks, in the order of their transactions. */
export interface RunRows {
  readonly firstBlock: number
  readonly lastBlock: number
  /** Of each transaction, ascending. */
  readonly ids: Float64Array
  /** 32 bytes for each transaction. */
  readonly hashes: Uint8Array
  /** For each party of a transaction, each once, its 20 bytes, the id of the transaction and the roles. */
  readonly partyAddresses: Uint8Array
  readonly partyIds: Float64Array
  readonly partyRoles: Uint8Array
  /**
   * For each token that a transaction moves to or from an account: owner (20), contract (20), standard (1), length of the key (1),
   * key of its ids (`writeToken`); then where it ends, the id of the transaction and the roles of the owner.
   */
  readonly candidates: Uint8Array
  readonly candidateEnds: Uint32Array
  readonly candidateIds: Float64Array
  readonly candidateRoles: Uint8Array
  /** For each account with events in a block: its 20 bytes and the number of the block. */
  readonly eventAddresses: Uint8Array
  readonly eventBlocks: Float64Array
}

/**
 * Derives all rows of consecutive blocks from what is stored of them.
 * @param stored - from `firstBlock` on; `extraEnds` has an entry for each of them.
 * @throws {StoreError} the bytes are damaged, or are not those of these transactions.
 */
export function deriveRows(
  firstBlock: number,
  { ids, records, extras, extraEnds }: Omit<StoredBlocks, 'recordEnds'>
): RunRows {
  const bytes = Buffer.from(records.buffer, records.byteOffset, records.length)
  const hashes = Buffer.allocUnsafe(hashLength * ids.length)
  const parties = new RoleColumns()
  const candidates = new RoleColumns()
  const eventAddresses: Uint8Array[] = []
  const eventBlocks: number[] = []
  const derived = new RecordRows()
  let row = 0
  let at = 0
  for (let block = 0; block < extraEnds.length; block++) {
    const number = firstBlock + block
    const extra = decodeExtra(extras.subarray(extraEnds[block - 1] ?? 0, extraEnds[block]))
    for (const address of extra.eventAddresses) {
      eventAddresses.push(address)
      eventBlocks.push(number)
    }
    const first = firstTransactionId(number)
    let listedAt = 0
    for (; row < ids.length; row++) {
      const id = ids[row] ?? 0
      if (id < first || id >= first + maxTransactionsPerBlock) break
      bytes.copy(hashes, row * hashLength, at + hashOffset, at + hashOffset + hashLength)
      at = derived.read(bytes, at)
      const next = extra.listed[listedAt]
      const listed = next?.index === id - first ? next : undefined
      if (listed !== undefined) listedAt++
      parties.add(id, listed?.parties ?? derived.parties)
      candidates.add(id, listed?.candidates ?? derived.candidates)
    }
    if (listedAt < extra.listed.length)
      throw damaged(`block ${number} has other rows of a transaction that it lacks`)
  }
  if (row < ids.length || at < bytes.length) throw damaged('there are records of other blocks')
  const { bytes: partyAddresses, ids: partyIds, roles: partyRoles } = parties.finish()
  const { bytes: ofCandidates, ends, ids: candidateIds, roles: candidateRoles } = candidates.finish()
  return {
    firstBlock,
    lastBlock: firstBlock + extraEnds.length - 1,
    ...{ ids, hashes, partyAddresses, partyIds, partyRoles },
    ...{ candidates: ofCandidates, candidateEnds: ends, candidateIds, candidateRoles },
    eventAddresses: Buffer.concat(eventAddresses),
    eventBlocks: new Float64Array(eventBlocks)
  }
}

/** Collects rows of transactions as columns. */
class RoleColumns {
  readonly #rows: string[] = []
  readonly #ends: number[] = []
  readonly #ids: number[] = []
  readonly #roles: number[] = []

  /** @param id - of their transaction. */
  add(id: number, rows: RowRoles): void {
    for (const [row, roles] of rows) {
      this.#rows.push(row)
      this.#ends.push((this.#ends.at(-1) ?? 0) + row.length)
      this.#ids.push(id)
      this.#roles.push(roles)
    }
  }

  /** The bytes of all rows, and for each row where its bytes end, the id of its transaction and its roles. */
  finish() {
    return {
      bytes: Buffer.from(this.#rows.join(''), 'latin1'),
      ends: new Uint32Array(this.#ends),
      ids: new Float64Array(this.#ids),
      roles: new Uint8Array(this.#roles)
    }
  }
}

/** Blocks with all rows that follow from them. */
export interface BlocksWithRows extends PackedBlocks, RunRows {
  readonly ids: PackedBlocks['ids']
}

/** @throws {StoreError} as `deriveRows`. */
export function withRows(blocks: PackedBlocks): BlocksWithRows {
  const { ids, ...rows } = deriveRows(blocks.headers[0]?.ref.number ?? 0, blocks)
  return { ...blocks, ...rows }
}
