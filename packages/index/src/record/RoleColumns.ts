import type { RowRoles } from './RecordRows.ts'
import { ByteWriter } from './recordBytes.ts'

/** Collects rows of transactions as columns. */
export class RoleColumns {
  readonly #bytes: ByteWriter
  readonly #ends: number[] = []
  readonly #ids: number[] = []
  readonly #roles: number[] = []

  /** @param expectedLength - of all rows, in bytes. */
  constructor(expectedLength: number) {
    this.#bytes = new ByteWriter(expectedLength)
  }

  get count(): number {
    return this.#ids.length
  }

  /** @param id - of their transaction. */
  add(id: number, rows: RowRoles): void {
    for (const [row, roles] of rows) {
      this.#bytes.latin1(row)
      this.#ends.push(this.#bytes.length)
      this.#ids.push(id)
      this.#roles.push(roles)
    }
  }

  /** The bytes of all rows, and for each row where its bytes end, the id of its transaction and its roles. */
  finish() {
    return {
      bytes: this.#bytes.finish(),
      ends: new Uint32Array(this.#ends),
      ids: new Float64Array(this.#ids),
      roles: new Uint8Array(this.#roles)
    }
  }
}
