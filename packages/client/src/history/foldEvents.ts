import { isConfirmed } from '@chain-data/protocol'
import type { TransactionRecord } from '../Client.ts'
import { blockOf, cursorOf } from './HeldHistory.ts'

/** What an `AddressEvent` may have. */
interface ChangeEvent {
  readonly kind: string
  readonly record?: TransactionRecord
  readonly hash?: string
}

/**
 * Applies all events up to a `synced` to the newest records of a history.
 *
 * Where older records are not held, what the events bring still is newer than those: they bring each record of each block
 * that is new, and no other block has changed.
 *
 * @returns The newest records at the position of the `synced`; nothing where the events do not tell them.
 */
export function foldEvents(
  events: readonly ChangeEvent[],
  records: readonly TransactionRecord[],
  hasOlder: boolean
): readonly TransactionRecord[] | undefined {
  // Some pending records are not held, and what comes may belong among them.
  if (hasOlder && !cursorOf(records)) return
  let next = [...records]
  for (const { kind, record, hash = record?.hash } of events) {
    if (!record && kind !== 'removed') return
    next = next.filter(each => each.hash !== hash)
    if (record) {
      const index = next.findIndex(each => isNewer(record, each))
      next.splice(index < 0 ? next.length : index, 0, record)
    }
  }
  return next
}

/** The order of a history. Records of one block come by ascending index, so that the one that comes is the newer one. */
function isNewer(coming: TransactionRecord, held: TransactionRecord): boolean {
  if (isConfirmed(held)) return !isConfirmed(coming) || blockOf(coming) >= blockOf(held)
  if (isConfirmed(coming)) return false
  return (coming.status - held.status || coming.nonce - held.nonce || (coming.hash < held.hash ? 1 : -1)) > 0
}
