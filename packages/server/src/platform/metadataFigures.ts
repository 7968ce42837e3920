/** How an address was found when somebody asked for it. */
export type MetadataLookup =
  /** Remembered and in date. */
  | 'fresh'
  /** Remembered and past its date: given out all the same, and fetched anew behind it. */
  | 'stale'
  /** It failed lately and is not tried again yet. */
  | 'negative'
  /** Has to be fetched. */
  | 'missing'

/** What the metadata service has done since it began, and what it is about. */
export interface MetadataFigures {
  readonly lookups: Readonly<Record<MetadataLookup, number>>
  /** Requests to single hosts by how they ended: `ok`, `overtaken`, or the reason of a failure in lower case. */
  readonly fetches: Readonly<Record<string, number>>
  /** Of documents, unpacked. */
  readonly fetchedBytes: number
  readonly running: number
  readonly waiting: number
  /** False while what is fetched is kept in memory only. */
  readonly isPersistent: boolean
}
