import { createHash } from 'node:crypto'
import { StoreError } from '../../platform/errors.ts'

/** One step of a schema. Its text never changes once released: stored checksums are compared with it. */
export interface Migration {
  readonly version: number
  readonly name: string
  readonly sql: string
}

/** A step that a store says has been taken. */
export interface AppliedMigration {
  readonly version: number
  readonly checksum: string
}

/**
 * @param place - what another index could be kept in: `folder` or `database`.
 * @throws {StoreError} the store is newer than this program, or was made by other steps.
 */
export function checkMigrations(
  applied: readonly AppliedMigration[],
  migrations: readonly Migration[],
  place: 'folder' | 'database'
): void {
  const newest = migrations.length
  for (const { version, checksum } of applied) {
    const known = migrations[version - 1]
    if (known === undefined) {
      const stored = applied.at(-1)?.version ?? 0
      throw new StoreError(
        `the store has schema version ${stored}, this program knows versions up to ${newest}: run the newer program, or index into another ${place}`,
        { storedVersion: stored, knownVersion: newest }
      )
    }
    if (checksumOf(known) !== checksum) {
      throw new StoreError(
        `schema step ${version} ("${known.name}") of the store was made by another program`,
        { version }
      )
    }
  }
}

/** What a store keeps of a step, to know it again. */
export function checksumOf({ version, name, sql }: Migration): string {
  return createHash('sha256').update(`${version}\n${name}\n${sql}`).digest('hex')
}
