import type { Address, DeepRecord, Hash, IndexedBlock } from '@chain-data/index'
import {
  accountEventsIn,
  addressLength,
  type BlockRows,
  decodeDetailed,
  deriveRows,
  hashOfRecord,
  toHex
} from '@chain-data/index/record'

/** Returns the hashes of a block's transactions. */
export function hashesIn({ records, recordEnds }: BlockRows): readonly Hash[] {
  return Array.from(recordEnds, (_, place) => hashOfRecord(records.subarray(recordEnds[place - 1] ?? 0)))
}

/** Returns the transactions of a block that an account is a party of, as an index keeps them. */
export function recordsOf(rows: BlockRows, address: Address): readonly DeepRecord[] {
  const { ids, records, recordEnds } = rows
  const parties = partiesIn(rows)
  return Array.from(ids).flatMap((id, place) =>
    parties.get(id)?.includes(address)
      ? { id, bytes: records.subarray(recordEnds[place - 1] ?? 0, recordEnds[place]) }
      : []
  )
}

/** Returns a block in the form in which it is stored as values again. Its candidates are left out. */
export function toIndexedBlock(rows: BlockRows): IndexedBlock {
  const { ref, parentHash, timestampSeconds, ids, records, extras, isTraced } = rows
  const parties = partiesIn(rows)
  const decoded = decodeDetailed({ ids: Array.from(ids), bytes: records })
  const transactions = decoded.map(({ transaction, details }, place) => ({
    transaction,
    ...details,
    parties: parties.get(ids[place] ?? 0) ?? [],
    candidates: []
  }))
  return { ref, parentHash, timestampSeconds, transactions, isTraced, events: accountEventsIn(extras) }
}

/** Returns the parties of a block's transactions, by their ids. */
function partiesIn(rows: BlockRows): ReadonlyMap<number, readonly Address[]> {
  const { partyIds, partyAddresses } = deriveRows(rows.ref.number, rows)
  const parties = new Map<number, Address[]>()
  for (const [row, id] of partyIds.entries()) {
    const address = toHex(partyAddresses.subarray(row * addressLength, (row + 1) * addressLength))
    const known = parties.get(id)
    if (known === undefined) parties.set(id, [address])
    else known.push(address)
  }
  return parties
}
