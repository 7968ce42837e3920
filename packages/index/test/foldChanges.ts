import type { Address, ConfirmedTransaction, Hash, PendingTransaction } from '../src/model/evm.ts'
import type { AccountChange, ChangePosition, ChangesOptions } from '../src/port/changes.ts'
import type { Snapshot } from '../src/port/store.ts'
import { decodeRecords, gather, readHistory } from './readAll.ts'

/** What an account's history has. */
export type ShownTransaction = PendingTransaction | ConfirmedTransaction

/** Histories that are kept by changes alone, and worked out in the plain way. */
export class FoldedHistories {
  readonly #histories = new Map<Address, Map<Hash, ShownTransaction>>()

  /** Begins with a history that was read. */
  begin(address: Address, shown: readonly ShownTransaction[]): void {
    this.#histories.set(address, new Map(shown.map(each => [each.hash, each])))
  }

  /** @throws {Error} the change does not follow from what is there. */
  take(change: AccountChange): void {
    for (const address of change.parties) {
      const history = this.#histories.get(address) ?? new Map<Hash, ShownTransaction>()
      this.#histories.set(address, history)
      const before = history.get(change.hash)
      const wrong = (why: string) => new Error(`${change.kind} of ${change.hash} at ${address}: ${why}`)
      if (change.kind === 'added' && before !== undefined) throw wrong('it is there')
      if (change.kind !== 'added' && before === undefined) throw wrong('it is not there')
      if (change.kind === 'removed') history.delete(change.hash)
      else if (change.kind === 'final') {
        if (before === undefined || isPending(before)) throw wrong('it is pending')
        if (before.blockNumber !== change.block.number) throw wrong(`it is in block ${before.blockNumber}`)
      } else {
        const [shown] =
          change.record.status === 'pending'
            ? [change.record.transaction]
            : decodeRecords(change.record.chunk)
        if (shown?.hash !== change.hash) throw wrong('its record is another one')
        if (change.kind === 'unconfirmed' && before !== undefined && isPending(before))
          throw wrong('it is pending')
        history.set(change.hash, shown)
      }
    }
  }

  /** In the order of histories. */
  of(address: Address): readonly ShownTransaction[] {
    return [...(this.#histories.get(address)?.values() ?? [])].sort((a, b) => {
      if (isPending(a) !== isPending(b)) return isPending(a) ? -1 : 1
      if (isPending(a) || isPending(b)) {
        return (b.status ?? 0) - (a.status ?? 0) || Number(b.nonce - a.nonce) || (a.hash < b.hash ? -1 : 1)
      }
      return b.blockNumber - a.blockNumber || b.index - a.index
    })
  }
}

/** Drivers give bytes as arrays of different classes. */
function withPlainBytes(change: AccountChange): AccountChange {
  if (change.kind !== 'added' && change.kind !== 'confirmed') return change
  if (change.record.status === 'pending') return change
  const { ids, bytes } = change.record.chunk
  return { ...change, record: { status: 'confirmed', chunk: { ids, bytes: Uint8Array.from(bytes) } } }
}

function isPending(transaction: ShownTransaction): transaction is PendingTransaction {
  return 'firstSeenSeconds' in transaction
}

/** The history of an account as the store answers it. */
export async function readShown(snapshot: Snapshot, address: Address): Promise<readonly ShownTransaction[]> {
  return [...(await snapshot.pending(address)), ...(await readHistory(snapshot, address))]
}

/** All changes after a position. */
export function readChanges(
  snapshot: Snapshot,
  after: ChangePosition,
  options?: ChangesOptions
): Promise<readonly AccountChange[]> {
  const pages = async function* () {
    for await (const { changes } of snapshot.changes(after, options)) yield changes.map(withPlainBytes)
  }
  return gather(pages())
}
