import type { AccountEvent, Address } from '../model/evm.ts'
import type { Damage } from '../platform/errors.ts'
import type { RecordChunk } from '../record/record.ts'
import type { TransactionPosition } from '../record/transactionId.ts'

/** Chunk of a history that is read even if rows are missing or altered. */
export interface AuditedChunk extends RecordChunk {
  readonly missing: readonly MissingPart[]
}

/** A row that the store must have for a transaction of the address index, and lacks or has altered. */
export interface MissingPart {
  readonly position: TransactionPosition
  /**
   * Its record; the row by which it is found by its hash, of which nothing is known where the record is missing, or the engine
   * keeps no such rows; its block; a record or a block that is there and does not agree with its checksum.
   */
  readonly part: 'record' | 'hash' | 'block' | 'alteredRecord' | 'alteredBlock'
}

/** Effects of one block on one account besides its transactions. */
export interface BlockEvents {
  readonly blockNumber: number
  readonly events: readonly AccountEvent[]
}

/** Reads one account's part of the index so that missing rows are noticed. */
export interface AuditReader {
  /**
   * The whole history, newest first, like `records`, but each missing part is named instead of an error. `ids` and `bytes`
   * leave out transactions without a record, or with an altered one; a chunk may have no record at all. For each transaction its hash and its block
   * are looked up too.
   */
  auditedRecords(address: Address): AsyncIterable<AuditedChunk>
  /**
   * Checks all rows of the blocks `from` to `to` against their checksums and each other.
   * @returns what is damaged or missing.
   */
  findDamage(from: number, to: number): Promise<readonly Damage[]>
  /**
   * Checks the chunks of all runs, as far as their keys are of the parts from `firstPart` up to, but not including, `endPart` (of
   * `partCount`).
   */
  findChunkDamage(firstPart: number, endPart: number): Promise<readonly Damage[]>
  /** Block events of the account from a block on, by block ascending, in chunks; default from the first. */
  accountEvents(address: Address, fromBlock?: number): AsyncIterable<readonly BlockEvents[]>
}
