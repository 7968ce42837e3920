import type { SyncStatus } from '../../model/sync.ts'

/** `undefined` takes an optional member away. */
export type SyncChange = { readonly [Name in keyof SyncStatus]?: SyncStatus[Name] | undefined }

/** The one place where an indexer writes down how it stands. */
export interface StatusBoard {
  read(): SyncStatus
  change(change: SyncChange): void
}

/** @param onChange - called after every change that changed something, with the whole status. */
export function createStatusBoard(
  initial: SyncStatus,
  onChange: (status: SyncStatus) => void = () => undefined
): StatusBoard {
  let current = initial
  return {
    read: () => current,
    change(change) {
      const entries = Object.entries({ ...current, ...change }).filter(([, value]) => value !== undefined)
      const next = Object.fromEntries(entries) as unknown as SyncStatus
      if (JSON.stringify(next) === JSON.stringify(current)) return
      current = next
      onChange(next)
    }
  }
}
