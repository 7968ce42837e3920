import type { StoreLocation } from './model/location.ts'
import type { ChainIdentity } from './port/status.ts'
import type { FencedWriter, StoreWriter } from './port/writer.ts'

export interface StoreWriterOptions {
  /** How long to wait for another writer of the same chain to end; absent: the engine's default, some seconds. */
  readonly lockWaitMs?: number
  /** Ends that waiting; the reason is thrown. */
  readonly signal?: AbortSignal
  /**
   * An index of another genesis block is kept aside, in place of one that was kept before, and a new one begun; absent: it is
   * refused.
   */
  readonly keepsOtherAside?: boolean
  /** The index was there before: a missing one is a {@link StoreLostError}, and not made anew. */
  readonly mustExist?: boolean
  /** Newest blocks whose changes are kept in the log; absent: 10,000. */
  readonly changeLogBlocks?: number
  /** Called when a silent writer on another machine was fenced, so that this one could take its lock. */
  onFenced?(fenced: FencedWriter): void
}

/**
 * Opens the index of one chain for writing, with the engine of `location`; makes it when it is missing.
 * @throws {StoreInUseError} another writer has it.
 * @throws {StoreError} it holds another chain, its format is that of another build, or the engine refuses.
 * @remarks Only the engine that is used is loaded: threads stay small.
 */
export async function openStoreWriter(
  location: StoreLocation,
  identity: ChainIdentity,
  options: StoreWriterOptions = {}
): Promise<StoreWriter> {
  switch (location.kind) {
    case 'sqlite': {
      const { openSqliteWriter } = await import('./sqlite/openWriter.ts')
      return openSqliteWriter(location.folder, identity, options)
    }
    case 'postgres': {
      const { openPostgresWriter } = await import('./postgres/openWriter.ts')
      return openPostgresWriter(location.url, identity, options)
    }
  }
}
