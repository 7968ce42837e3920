import type { CachedDocument, CachedFailure, MetadataKind, MetadataRecord } from '../model/metadata.ts'

/** Change of the stored document or failure of one address. */
export type MetadataChange =
  | { readonly is: 'document'; readonly kind: MetadataKind; readonly document: CachedDocument }
  | { readonly is: 'failure'; readonly kind: MetadataKind; readonly failure: CachedFailure }
  | { readonly is: 'use' }

/** One address and its changes to be stored, oldest first. */
export type PendingEntry = readonly [key: string, changes: readonly MetadataChange[]]

/** One transaction's share. */
const rowsAtOnce = 64
const bytesAtOnce = 512 * 1024
/** Beyond this the newest are not stored: the store cannot keep up, or is away. */
const maxPendingBytes = 16 * 1024 * 1024
const changeOverheadBytes = 128

/** Changes that a metadata cache has not stored yet, in order of arrival; an address has at most one document and one later failure. */
export class PendingChanges {
  readonly #changes = new Map<string, readonly MetadataChange[]>()
  #bytes = 0

  get size(): number {
    return this.#changes.size
  }

  /** @returns whether there was room for it. */
  add(key: string, change: MetadataChange): boolean {
    const before = this.#changes.get(key) ?? []
    const kept = change.is === 'document' ? [] : before.filter(({ is }) => is !== change.is)
    const bytes = weigh([...kept, change]) - weigh(before)
    if (this.#bytes + bytes > maxPendingBytes) return false
    this.#changes.set(key, [...kept, change])
    this.#bytes += bytes
    return true
  }

  /** Returns the record of an address as it will be once its changes are stored. */
  laidOver(stored: MetadataRecord, key: string): MetadataRecord {
    let record = stored
    for (const change of this.#changes.get(key) ?? []) {
      if (change.is === 'document') record = { document: change.document }
      if (change.is === 'failure') record = { ...record, failure: change.failure }
    }
    return record
  }

  /** The oldest ones, as many as one transaction may take. */
  nextBatch(): readonly PendingEntry[] {
    const batch: PendingEntry[] = []
    let bytes = 0
    for (const entry of this.#changes) {
      batch.push(entry)
      bytes += weigh(entry[1])
      if (batch.length >= rowsAtOnce || bytes >= bytesAtOnce) break
    }
    return batch
  }

  /** Removes stored changes. Those that came for the same addresses meanwhile stay. */
  remove(batch: readonly PendingEntry[]): void {
    for (const [key, changes] of batch) {
      if (this.#changes.get(key) !== changes) continue
      this.#bytes -= weigh(changes)
      this.#changes.delete(key)
    }
  }

  clear(): void {
    this.#changes.clear()
    this.#bytes = 0
  }
}

function weigh(changes: readonly MetadataChange[]): number {
  return changes.reduce(
    (bytes, change) =>
      bytes + changeOverheadBytes + (change.is === 'document' ? change.document.body.length : 0),
    0
  )
}
