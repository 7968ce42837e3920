import type { StoreLocation, StoreReader } from '@chain-data/index'

/** The stores of one server, whatever the engine. */
export interface Stores {
  /** Where everything is kept that belongs to no chain. */
  readonly location: StoreLocation
  /** Where the index of a chain is, for the threads that write. */
  locationOf(chainId: number): StoreLocation
  /** Maximum of snapshots open at the same time: of each chain, or with PostgreSQL of all of them together. */
  readonly answersAtOnce: number
  /** @throws {StoreError} the index of this chain cannot be read by this program. */
  openReader(chainId: number): Promise<StoreReader>
  /**
   * Makes the function that counts, for a cache kept there, each time that something stored in it differed from its
   * checksum.
   * @param cache - its name in the metrics.
   */
  countCacheDamage(cache: string): () => void
  /** Those counts, by cache. */
  cacheDamages(): ReadonlyMap<string, number>
  /** Closes the stores, once readers, caches and writers have ended. */
  close(): Promise<void>
}
