import { StoreError } from '../../platform/errors.ts'
import { addressLength } from '../record/encodeBlock.ts'
import type { PackedBlocks } from '../record/packBlocks.ts'
import { Tally, tallyPageBytes } from '../record/tally.ts'
import type { SqliteConnection } from './driver.ts'

/**
 * The tally of the address index as the file has it, kept in memory between commits. What is changed here is stored by `save`,
 * in the transaction that changes the index.
 */
export class TallyTable {
  readonly #statements: ReturnType<typeof prepare>
  /** Absent until it is asked for: it is in the file. */
  #tally: Tally | undefined

  constructor(connection: SqliteConnection) {
    this.#statements = prepare(connection)
  }

  /** Counts the rows of these blocks in. */
  add({ partyAddresses, partyIds }: PackedBlocks): void {
    const tally = this.current()
    for (let row = 0; row < partyIds.length; row++) {
      tally.add(partyAddresses, row * addressLength, partyIds[row] ?? 0)
    }
  }

  /** @throws {StoreError} a page is damaged. */
  current(): Tally {
    this.#tally ??= this.#read()
    return this.#tally
  }

  save(): void {
    for (const [page, bytes] of this.#tally?.takeChanged() ?? []) this.#statements.put.run([page, bytes])
  }

  /** What is in memory was not stored. */
  forget(): void {
    this.#tally = undefined
  }

  #read(): Tally {
    const tally = new Tally()
    for (const { page, rec } of this.#statements.pages.all([])) tally.load(page, checkTallyPage(rec))
    return tally
  }
}

/** @throws {StoreError} it is no whole page. */
export function checkTallyPage(bytes: Uint8Array): Uint8Array {
  if (bytes.length === tallyPageBytes) return bytes
  throw new StoreError(
    `the store is damaged: a page of its tally has ${bytes.length} bytes, expected ${tallyPageBytes}`
  )
}

function prepare(connection: SqliteConnection) {
  return {
    pages: connection.prepare<{ page: number; rec: Uint8Array }>('SELECT page, rec FROM tally'),
    put: connection.prepare('INSERT OR REPLACE INTO tally VALUES (?, ?)')
  }
}
