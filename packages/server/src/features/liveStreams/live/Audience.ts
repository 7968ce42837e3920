import { type AccountChange, type Address, accountKeys, type ChangePosition } from '@chain-data/index'
import { comparePositions } from '../../../server/methods/cursor.ts'
import type { Level } from './readPart.ts'

/** A stream, as its feed sees it. */
export interface FeedReader {
  readonly log: string
  /** In lower case. */
  readonly addresses: ReadonlySet<Address>
  /** Changes up to here were taken. */
  readonly position: ChangePosition
  /**
   * Takes a change for some of the addresses, in ascending order.
   * @returns false: there is no room, and nothing was taken.
   */
  take(change: AccountChange, addresses: readonly Address[]): boolean
  /** There is nothing more to take up to here. */
  skipTo(position: ChangePosition): void
  /** Everything up to this level was given. */
  reach(level: Level): void
  /** Called once it is left out: it has no room, and catches up by itself. */
  leftBehind(): void
  /** The log cannot be read on from where it is. */
  end(): void
}

/** Streams that are given the same changes, found by their addresses. */
export class Audience {
  readonly #readers = new Set<FeedReader>()
  readonly #watched = new Map<Address, Set<FeedReader>>()
  #keys: Uint32Array | undefined

  get size(): number {
    return this.#readers.size
  }

  /** Keys of the addresses of all of them. Those of streams that have left may be among them. */
  get watched(): Uint32Array {
    this.#keys ??= accountKeys(this.#watched.keys())
    return this.#keys
  }

  /** They may leave meanwhile. */
  [Symbol.iterator](): Iterator<FeedReader> {
    return this.#readers.values()
  }

  add(reader: FeedReader): void {
    if (this.#readers.has(reader)) return
    this.#readers.add(reader)
    this.#keys = undefined
    for (const address of reader.addresses) {
      const watching = this.#watched.get(address) ?? new Set()
      this.#watched.set(address, watching.add(reader))
    }
  }

  /** @returns false: it is not one of them. */
  delete(reader: FeedReader): boolean {
    if (!this.#readers.delete(reader)) return false
    for (const address of reader.addresses) {
      const watching = this.#watched.get(address)
      watching?.delete(reader)
      if (watching?.size === 0) this.#watched.delete(address)
    }
    return true
  }

  /** Gives a change to those that it concerns and that have not seen it. @returns those that have no room, which are left out from now on. */
  give(change: AccountChange): readonly FeedReader[] {
    const found = new Map<FeedReader, Address[]>()
    for (const party of [...change.parties].sort()) {
      for (const reader of this.#watched.get(party) ?? []) {
        const addresses = found.get(reader)
        if (addresses === undefined) found.set(reader, [party])
        else addresses.push(party)
      }
    }
    const full: FeedReader[] = []
    for (const [reader, addresses] of found) {
      if (comparePositions(change.position, reader.position) <= 0) continue
      if (reader.take(change, addresses)) continue
      this.delete(reader)
      full.push(reader)
    }
    return full
  }
}
