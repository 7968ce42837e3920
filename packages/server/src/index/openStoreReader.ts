import { openStoreReaders, type StoreReadersOptions } from './openStoreReaders.ts'
import type { StoreLocation } from './parseStoreUrl.ts'
import type { StoreReader } from './port/store.ts'

/**
 * Opens the index of one chain for reading, with connections of its own; for all chains of a server see `openStoreReaders`.
 * @throws {StoreError} the engine cannot be used, or the index was made by a newer program.
 */
export async function openStoreReader(
  location: StoreLocation,
  chainId: number,
  options: StoreReadersOptions = {}
): Promise<StoreReader> {
  const readers = await openStoreReaders(location, options)
  try {
    const reader = await readers.open(chainId)
    return {
      openSnapshot: () => reader.openSnapshot(),
      async close() {
        await reader.close()
        await readers.close()
      }
    }
  } catch (error) {
    await readers.close()
    throw error
  }
}
