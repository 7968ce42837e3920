/** Which of the two caches a document is in: each has a bound of its own. */
export type MetadataKind =
  /** Its address is the hash of the content, or fixes it otherwise. */
  | 'content'
  /** Its host may change it at any time. */
  | 'url'

/** A document as it came. */
export interface CachedDocument {
  /** Text of a JSON object, unpacked; read it again before use. */
  readonly body: Uint8Array
  readonly fetchedAtMs: number
  /** Held against its content address and found to be the very content. */
  readonly isProven: boolean
}

/** Attempts in a row that gave nothing. */
export interface CachedFailure {
  readonly count: number
  /** When the last one failed. */
  readonly atMs: number
}

/** What is known of one address; both at once when a document could not be had anew. */
export interface MetadataRecord {
  readonly document?: CachedDocument
  readonly failure?: CachedFailure
}

/**
 * Metadata that outlives the process. A cache: it may forget anything at any time, and trouble with it is logged and never
 * thrown, so that no answer fails because of it. Any number of servers may share one. Every engine passes
 * `caches/metadataCache.contract.ts`.
 */
export interface MetadataCache {
  /**
   * @param keys - addresses, at most some dozens at once: their documents are all read before this returns.
   * @returns what is known of them; the others are left out. Counts as a use.
   */
  read(keys: readonly string[]): Promise<ReadonlyMap<string, MetadataRecord>>
  /** To be stored soon, and readable at once; replaces what was known of the address, failures included. */
  saveDocument(kind: MetadataKind, key: string, document: CachedDocument): void
  /** As `saveDocument`; a document that was had before stays. */
  saveFailure(kind: MetadataKind, key: string, failure: CachedFailure): void
  /** False once it has given up, and from the start where it could not be opened. */
  isWorking(): boolean
  /** Stores what has not been stored yet. Afterwards reads find nothing and saves do nothing. */
  close(): Promise<void>
}

/** Remembers nothing: where there is no store. */
export const noMetadataCache: MetadataCache = {
  read: async () => new Map(),
  saveDocument() {},
  saveFailure() {},
  isWorking: () => false,
  close: async () => {}
}
