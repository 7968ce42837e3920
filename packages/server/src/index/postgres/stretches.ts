import { StoreError } from '../../platform/errors.ts'
import type { MissingPart } from '../port/audit.ts'
import { toPosition } from '../record/transactionId.ts'
import type { Stretch } from './HistoryCursor.ts'
import type { Row } from './readConnection.ts'

/**
 * The answer to the statement `records`. Absent: no row of the address index.
 * @throws {StoreError} a record is missing.
 */
export function toStretch({ ids: idBytes, bytes, missing }: Row = {}): Stretch | undefined {
  const ids = toNumbers(idBytes)
  const lastId = ids.at(-1)
  if (lastId === undefined) return undefined
  if (missing !== null || !Buffer.isBuffer(bytes)) {
    const { index, blockNumber } = toPosition(Number(missing))
    throw new StoreError(`the store is damaged: transaction ${index} of block ${blockNumber} is missing`)
  }
  return { chunk: { ids, bytes, missing: [] }, rows: ids.length, lastId }
}

/**
 * The answer to the statement `audited`. Absent: no row of the address index. A hash is found by an index over the records
 * themselves, so that it cannot be missing where its record is there.
 */
export function toAuditedStretch({ ids, bytes, withoutRecord, withoutBlock }: Row = {}): Stretch | undefined {
  const named = toNumbers(ids)
  const lastId = named.at(-1)
  if (lastId === undefined) return undefined
  const [recordless, blockless] = [new Set(toNumbers(withoutRecord)), new Set(toNumbers(withoutBlock))]
  const missing = named.flatMap((id): MissingPart[] => [
    ...(recordless.has(id) ? [{ position: toPosition(id), part: 'record' as const }] : []),
    ...(blockless.has(id) ? [{ position: toPosition(id), part: 'block' as const }] : [])
  ])
  return {
    chunk: {
      ids: named.filter(id => !recordless.has(id)),
      bytes: Buffer.isBuffer(bytes) ? bytes : Buffer.alloc(0),
      missing
    },
    rows: named.length,
    lastId
  }
}

/** Ids, 8 bytes each; none where the value is null. Ids fit a number: two halves are quicker than a bigint. */
function toNumbers(ids: unknown): readonly number[] {
  if (!Buffer.isBuffer(ids)) return []
  const numbers = new Array<number>(ids.length / 8)
  for (let place = 0; place < numbers.length; place++) {
    numbers[place] = ids.readUInt32BE(place * 8) * 2 ** 32 + ids.readUInt32BE(place * 8 + 4)
  }
  return numbers
}
