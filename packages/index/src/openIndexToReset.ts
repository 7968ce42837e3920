import type { StoreLocation } from './model/location.ts'
import type { IndexToReset } from './port/reset.ts'

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
