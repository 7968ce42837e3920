import { createHash } from 'node:crypto'
import { StoreError } from '../platform/errors.ts'

/** Raise it when stored bytes change and no table does. */
const bytesFormat = 2

/** A store whose format is checked, for the message. */
export interface NamedStore {
  /** Chain and place: `chain 1: the store evm-1.sqlite`. */
  readonly name: string
  /** The next step where the format is another one. */
  readonly advice: string
}

/**
 * Returns the format of a store: a positive number of 31 bits that follows from the SQL that makes its tables.
 * @remarks Comments and white space do not count.
 */
export function formatOf(sql: string): number {
  const tables = sql.replaceAll(/--.*/g, '').replaceAll(/\s+/g, ' ')
  const hash = createHash('sha256').update(`${bytesFormat} ${tables}`).digest()
  return hash.readUInt32BE() >>> 1
}

/**
 * Requires that a store has the format of this build.
 * @param stored - absent: the store names none.
 * @throws {StoreError} it has another one; `expectedFormat` is in the context.
 */
export function requireFormat(
  stored: number | undefined,
  expected: number,
  { name, advice }: NamedStore
): void {
  if (stored === expected) return
  const found = stored === undefined ? 'it names no format' : `its format is ${stored}`
  throw new StoreError(
    `${name} was written by another build: ${found}, and this build reads and writes format ${expected}. ${advice}`,
    { storedFormat: stored, expectedFormat: expected }
  )
}

/** Names the store of a chain. @param place - its file or schema. */
export function chainStore(chainId: number, place: string): NamedStore {
  return {
    name: `chain ${chainId}: the store ${place}`,
    advice: `Begin it anew with \`chain-data reset ${chainId}\`, or run the build that wrote it`
  }
}

/** Names the store of a cache. @param place - its file or schema. */
export function cacheStore(place: string): NamedStore {
  return { name: `the cache ${place}`, advice: 'Delete it, and the next start makes it anew' }
}
