import type { StoreLocation } from './parseStoreUrl.ts'

/** The index of one chain, which nobody writes until it is closed. */
export interface IndexToReset {
  /** The path of its file, or its schema. Never a password. */
  readonly place: string
  /** Where it is kept. */
  readonly aside: string
  /** An index that was kept aside before is there, and is deleted then. */
  readonly replacesEarlier: boolean
  /** Its size on disk. */
  readonly bytes: number
  /** Keeps the index aside, so that the next server begins a new one. */
  keepAside(): Promise<void>
  /** Lets servers write the chain again. */
  close(): Promise<void>
}

/**
 * Opens the index of one chain for `chain-data reset`, whether or not this program can read it.
 * @returns absent where there is none.
 * @throws {StoreInUseError} a server writes it.
 * @throws {StoreError} the engine refuses.
 */
export async function openIndexToReset(
  location: StoreLocation,
  chainId: number
): Promise<IndexToReset | undefined> {
  switch (location.kind) {
    case 'sqlite': {
      const { openSqliteIndexToReset } = await import('./sqlite/keepAside.ts')
      return openSqliteIndexToReset(location.folder, chainId)
    }
    case 'postgres': {
      const { openPostgresIndexToReset } = await import('./postgres/keepAside.ts')
      return openPostgresIndexToReset(location.url, chainId)
    }
  }
}
