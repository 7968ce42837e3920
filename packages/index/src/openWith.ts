import type { StoreReader } from './port/store.ts'

/**
 * Opens a reader over connections that are its own.
 * @param connections - closed after the reader, and where it cannot be opened.
 */
export async function openWith(
  connections: { close(): Promise<void> },
  open: () => Promise<StoreReader>
): Promise<StoreReader> {
  try {
    const reader = await open()
    return {
      openSnapshot: options => reader.openSnapshot(options),
      unchangedState: sinceMs => reader.unchangedState(sinceMs),
      reportDamage: damage => reader.reportDamage(damage),
      onCommit: listener => reader.onCommit(listener),
      async close() {
        await reader.close()
        await connections.close()
      }
    }
  } catch (error) {
    await connections.close()
    throw error
  }
}
