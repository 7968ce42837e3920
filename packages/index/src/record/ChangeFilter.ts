import type { Address } from '../model/evm.ts'
import { type EntryKind, keyOfParty } from './changeEntries.ts'

/** An entry of the log of changes, with the keys of all accounts that its changes are about. */
interface LearnedEntry {
  readonly entry: number
  readonly previous: number
  readonly kind: EntryKind
}

/** Entries that follow each other. */
export interface FilteredStretch {
  /** The entry before the first one. */
  readonly after: number
  readonly last: number
  /** What follows a reorg is told differently: it is read by every replay. */
  readonly hasReorg: boolean
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
  /** Ascending; there may be gaps. */
  #stretches: FilteredStretch[] = []
  readonly #matches = new WeakMap<object, (stretch: FilteredStretch) => boolean>()

  /** Forgets what is of another log than this one, and what is older than its oldest entry. */
  use(log: string, oldest: number): void {
    if (log !== this.#log) this.forget()
    this.#log = log
    this.#stretches.splice(0, this.#indexOf(oldest + 1))
  }

  forget(): void {
    this.#stretches = []
  }

  /** Returns the stretch that an entry is in; absent: it is not known. */
  at(entry: number): FilteredStretch | undefined {
    const stretch = this.#stretches[this.#indexOf(entry)]
    return stretch !== undefined && stretch.after < entry ? stretch : undefined
  }

  /** Counts the first of these entries, which follow each other, that are not known yet. */
  countUnknown(entries: readonly LearnedEntry[]): number {
    const known = this.#stretches[this.#indexOf(entries[0]?.entry ?? 0)]?.after ?? Number.POSITIVE_INFINITY
    return entries.filter(({ entry }) => entry <= known).length
  }

  /**
   * Takes entries that follow each other and are not known.
   * @param keys - of the accounts that their changes are about, in any order.
   */
  learn(entries: readonly LearnedEntry[], keys: readonly number[]): void {
    const [first, last] = [entries[0], entries.at(-1)]
    if (first === undefined || last === undefined) return
    this.#stretches.splice(this.#indexOf(first.entry), 0, {
      ...{ after: first.previous, last: last.entry },
      hasReorg: entries.some(({ kind }) => kind === 'rollback'),
      keys: Uint32Array.from(new Set(keys)).sort()
    })
  }

  /**
   * Returns what tells whether a stretch names one of these accounts.
   * @param accounts - stay as they are.
   */
  matchOf(accounts: Pick<ReadonlySet<Address>, 'keys'>): (stretch: FilteredStretch) => boolean {
    const known = this.#matches.get(accounts) ?? createMatch(accounts.keys())
    this.#matches.set(accounts, known)
    return known
  }

  /** @returns the place of the first stretch that ends at this entry or later. */
  #indexOf(entry: number): number {
    return firstIndex(this.#stretches.length, at => (this.#stretches[at]?.last ?? 0) >= entry)
  }
}

/** @returns the first of so many places of which `isReached` holds, which then holds of all after it; or their number. */
function firstIndex(length: number, isReached: (at: number) => boolean): number {
  let [from, to] = [0, length]
  while (from < to) {
    const middle = (from + to) >> 1
    if (isReached(middle)) to = middle
    else from = middle + 1
  }
  return from
}

function createMatch(accounts: Iterable<Address>): (stretch: FilteredStretch) => boolean {
  const watched = Uint32Array.from(accounts, keyOfParty).sort()
  return ({ keys }) => {
    const [few, many] = keys.length < watched.length ? [keys, watched] : [watched, keys]
    return few.some(key => many[firstIndex(many.length, at => (many[at] ?? 0) >= key)] === key)
  }
}
