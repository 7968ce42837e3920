import { eachKey, hasKey } from './accountKeys.ts'
import type { LoggedChange } from './changeEntries.ts'

/** A stretch ends with an entry whose number is a multiple of this. Numbers are random: that is about so many entries. */
const meanEntries = 8

/** Entries that follow each other. */
interface Stretch {
  readonly last: number
  /** Keys of the accounts that their changes are about, ascending. */
  readonly keys: Uint32Array
}

/**
 * The accounts of the log of changes, stretch by stretch, so that a replay skips the stretches that name none of its own. It is kept
 * in memory beside a reader, and learns what replays read: a new one skips nothing.
 *
 * @remarks 4 bytes for each account of a stretch. A key is shared by few addresses, and then a stretch is read in vain.
 */
export class ChangeFilter {
  #log = ''
  #oldest = 0
  /** By the entry before them. */
  readonly #stretches = new Map<number, Stretch>()
  /** The stretch that is being read. */
  #open: { readonly after: number; last: number; readonly keys: Set<number> } | undefined

  /** Forgets what is of another log than this one, and what is older than its oldest entry. */
  use(log: string, oldest: number): void {
    if (log !== this.#log) this.forget()
    this.#log = log
    if (oldest === this.#oldest) return
    this.#oldest = oldest
    for (const after of this.#stretches.keys()) if (after < oldest) this.#stretches.delete(after)
  }

  forget(): void {
    this.#stretches.clear()
  }

  /**
   * Skips the stretches after an entry that name none of these accounts, as far as they are known.
   * @param newest - not beyond this entry.
   * @param accounts - their keys, as of `accountKeys`.
   * @returns the last entry that is skipped; `after` where there is none.
   */
  skip(after: number, newest: number, accounts: Uint32Array): number {
    let at = after
    for (let next = this.#stretches.get(at); next !== undefined; next = this.#stretches.get(at)) {
      if (next.last > newest || haveCommon(next.keys, accounts)) break
      at = next.last
    }
    return at
  }

  /** Takes an entry that a replay has read. */
  learn(previous: number, entry: number, changes: Iterable<LoggedChange>): void {
    if (previous % meanEntries === 0) {
      const isKnown = this.#stretches.has(previous)
      this.#open = isKnown ? undefined : { after: previous, last: previous, keys: new Set() }
    }
    const open = this.#open
    if (open === undefined || open.last !== previous) return
    open.last = entry
    for (const { kind, parties } of changes) {
      if (kind !== 'taken') eachKey(parties, key => open.keys.add(key))
    }
    if (entry % meanEntries !== 0) return
    this.#stretches.set(open.after, { last: entry, keys: Uint32Array.from(open.keys).sort() })
  }
}

function haveCommon(one: Uint32Array, other: Uint32Array): boolean {
  const [few, many] = one.length < other.length ? [one, other] : [other, one]
  return few.some(key => hasKey(many, key))
}
