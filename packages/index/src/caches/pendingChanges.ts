/** Change of an entry: another value, or without one: it was used where it has an id, and is removed where it has none. */
export interface Change {
  readonly space: number
  readonly body?: Uint8Array
  readonly id?: number
}

/** A key, as hex, and its change. */
export type PendingEntry = readonly [key: string, change: Change]

/** One transaction's share. */
const entriesAtOnce = 64
const bytesAtOnce = 512 * 1024
/** Beyond this the newest are not stored: the store cannot keep up, or is away. */
const maxPendingBytes = 16 * 1024 * 1024
const changeOverheadBytes = 128

/** Changes that a cache has not stored yet, in order of arrival; a key has the newest one only. */
export class PendingChanges {
  readonly #changes = new Map<string, Change>()
  #bytes = 0

  get size(): number {
    return this.#changes.size
  }

  /** @returns whether there was room for it. */
  add(key: string, change: Change): boolean {
    const before = this.#changes.get(key)
    // Whatever else changes counts as a use.
    if (change.id !== undefined && before !== undefined) return true
    const bytes = weigh(change) - weigh(before)
    if (this.#bytes + bytes > maxPendingBytes) return false
    this.#changes.set(key, change)
    this.#bytes += bytes
    return true
  }

  /** Returns the value of a key as it will be once its change is stored. */
  valueOf(key: string, stored: Uint8Array | undefined): Uint8Array | undefined {
    const change = this.#changes.get(key)
    return change === undefined || change.id !== undefined ? stored : change.body
  }

  /** The oldest ones, as many as one transaction may take. */
  nextBatch(): readonly PendingEntry[] {
    const batch: PendingEntry[] = []
    let bytes = 0
    for (const entry of this.#changes) {
      batch.push(entry)
      bytes += weigh(entry[1])
      if (batch.length >= entriesAtOnce || bytes >= bytesAtOnce) break
    }
    return batch
  }

  /** Removes stored changes. Those that came for the same keys meanwhile stay. */
  remove(batch: readonly PendingEntry[]): void {
    for (const [key, change] of batch) {
      if (this.#changes.get(key) !== change) continue
      this.#bytes -= weigh(change)
      this.#changes.delete(key)
    }
  }

  clear(): void {
    this.#changes.clear()
    this.#bytes = 0
  }
}

function weigh(change: Change | undefined): number {
  return change === undefined ? 0 : changeOverheadBytes + (change.body?.length ?? 0)
}
