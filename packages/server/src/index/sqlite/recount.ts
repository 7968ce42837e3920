import { setImmediate as breathe } from 'node:timers/promises'
import type { Address } from '../../model/evm.ts'
import type { Recount } from '../port/audit.ts'
import { addressLength } from '../record/encodeBlock.ts'
import {
  behindAddresses,
  compareTallies,
  partBounds,
  readPartTally,
  Tally,
  tallyPlace
} from '../record/tally.ts'
import { firstTransactionId } from '../record/transactionId.ts'
import { checkTallyPage } from '../shared/rows.ts'
import type { ReadConnection } from './read.ts'

/** Others of the thread wait for so many rows. */
const rowsAtOnce = 5_000

/** What bounds a recount. */
export interface RecountBounds {
  /** First block whose rows were counted when they were written. */
  readonly talliedFrom: number
  readonly maxRows: number
  readonly signal: AbortSignal | undefined
}

/**
 * Counts the part of the address index that `address` is in, epoch after epoch, and compares it with what was written.
 * @param reads - asked before each call, so that counting stops when its snapshot is closed.
 */
export async function recountPart(
  reads: () => ReadConnection,
  address: Address,
  { talliedFrom, maxRows, signal }: RecountBounds
): Promise<Recount> {
  const firstId = firstTransactionId(talliedFrom)
  const found = new Tally()
  let left = maxRows
  for (const { ids, addresses } of rowsOfPart(reads, address, talliedFrom)) {
    left -= ids.length
    for (const [row, id] of ids.entries()) {
      // Of an index that an older version began, nobody has counted the older rows.
      if (id >= firstId) found.add(addresses, row * addressLength, id)
    }
    await breathe()
    if (left < 0 || signal?.aborted) return { isComplete: false, missing: [], unresolved: 0 }
  }
  const { page, offset } = tallyPlace(address)
  const stored = reads().tallyPage.get([page])
  const written =
    stored === undefined ? new Tally().part(address) : readPartTally(checkTallyPage(stored.rec), offset)
  return { isComplete: true, ...compareTallies(written, found.part(address), address) }
}

interface PartRows {
  readonly ids: readonly number[]
  /** 20 bytes for each. */
  readonly addresses: Uint8Array
}

/** Epoch by epoch, and in each in the order of the index; those that hold no block from `talliedFrom` on are passed over. */
function* rowsOfPart(
  reads: () => ReadConnection,
  address: Address,
  talliedFrom: number
): Generator<PartRows> {
  const { first, end = behindAddresses } = partBounds(address)
  for (const { id: epoch } of reads().epochsFrom.all([talliedFrom])) {
    let after: readonly [Uint8Array, number] = [first, -1]
    for (;;) {
      const rows = toPartRows(reads().partRows.get([epoch, ...after, end, rowsAtOnce]))
      yield rows
      if (rows.ids.length < rowsAtOnce) break
      after = [rows.addresses.slice(-addressLength), rows.ids.at(-1) ?? 0]
    }
  }
}

function toPartRows(row: ReturnType<ReadConnection['partRows']['get']>): PartRows {
  const { ids, addresses } = row ?? {}
  if (ids == null || addresses == null) return { ids: [], addresses: new Uint8Array(0) }
  return { ids: ids.split(',').map(Number), addresses }
}
