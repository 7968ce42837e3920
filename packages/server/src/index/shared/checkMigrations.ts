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
 * Checks the steps that a store has taken.
 *
 * @param place - place for another index: `folder` or `database`.
 * @throws {StoreError} the store is newer than this program, or was made by other steps.
 */
export function checkMigrations(
  applied: readonly AppliedMigration[],
  migrations: readonly Migration[],
  place: 'folder' | 'database'
): void {
  refuseNewerSchema(applied.at(-1)?.version ?? 0, migrations, place)
  for (const { version, checksum } of applied) {
    const known = migrations[version - 1]
    if (known === undefined || checksumOf(known) !== checksum) {
      throw new StoreError(
        `schema step ${version} ("${known?.name}") of the store was made by another program`,
        { version }
      )
    }
  }
}

/**
 * @param place - place for another index: `folder` or `database`.
 * @throws {StoreError} the stored schema is newer than the last of `migrations`.
 */
export function refuseNewerSchema(
  storedVersion: number,
  migrations: readonly Migration[],
  place: 'folder' | 'database',
  chainId?: number
): void {
  const knownVersion = migrations.length
  if (storedVersion <= knownVersion) return
  const chain = chainId === undefined ? '' : `chain ${chainId}: `
  throw new StoreError(
    `${chain}the store has schema version ${storedVersion}, this program knows versions up to ${knownVersion}: run the newer program, or index into another ${place}`,
    { storedVersion, knownVersion, ...(chainId !== undefined && { chainId }) }
  )
}

/** Computes what a store keeps of a step, to recognise it later. */
export function checksumOf({ version, name, sql }: Migration): string {
  return createHash('sha256').update(`${version}\n${name}\n${sql}`).digest('hex')
}
