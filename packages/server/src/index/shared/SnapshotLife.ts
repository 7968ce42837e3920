import { StoreError } from '../../platform/errors.ts'
import type { PlaceHolder } from './snapshotPlaces.ts'

/** How long one snapshot may be read from, and whether that is going on right now. */
export class SnapshotLife implements PlaceHolder {
  readonly #lastMs: number
  readonly #onEnd: () => void
  #readAtMs = performance.now()
  #underWay = 0
  /** Why there is nothing to read any more. */
  #ended: string | undefined

  /**
   * @param maxAgeMs - the first read after that ends it.
   * @param onEnd - called once.
   */
  constructor(maxAgeMs: number, onEnd: () => void) {
    this.#lastMs = this.#readAtMs + maxAgeMs
    this.#onEnd = onEnd
  }

  idleMs(): number {
    return this.#underWay > 0 ? 0 : performance.now() - this.#readAtMs
  }

  end(why: string): void {
    if (this.#ended !== undefined) return
    this.#ended = why
    this.#onEnd()
  }

  /** @throws {StoreError} it has ended. */
  check(): void {
    this.#readAtMs = performance.now()
    if (this.#readAtMs > this.#lastMs) this.end('too old: its reader took too long')
    if (this.#ended !== undefined) throw new StoreError(`the snapshot is ${this.#ended}`)
  }

  /** Reads something, unless it has ended, or ends meanwhile. */
  async during<T>(read: () => Promise<T>): Promise<T> {
    this.check()
    this.#underWay++
    try {
      const found = await read()
      this.check()
      return found
    } finally {
      this.#underWay--
    }
  }
}
