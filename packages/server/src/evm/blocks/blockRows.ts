import type { AccountEvents, Address, DeepRecord, Hash, IndexedBlock } from '@chain-data/index'
import {
  addressLength,
  type BlockRows,
  decodeAccountEvents,
  decodeDetailed,
  firstTransactionId,
  hashLength,
  toHex
} from '@chain-data/index/record'

/** Returns the hashes of a block's transactions. */
export function hashesIn({ hashes, transactionCount }: BlockRows): readonly Hash[] {
  return hexesIn(hashes, hashLength, 0, transactionCount)
}

/** Returns what a block does to accounts besides its transactions, each account once. */
export function eventsIn({ eventAddresses, events, eventEnds }: BlockRows): readonly AccountEvents[] {
  const addresses = hexesIn(eventAddresses, addressLength, 0, eventEnds.length)
  return addresses.map((address, place) => ({
    address,
    events: decodeAccountEvents(events.subarray(eventEnds[place - 1] ?? 0, eventEnds[place]))
  }))
}

/** Returns the transactions of a block that an account is a party of, as an index keeps them. */
export function recordsOf(rows: BlockRows, address: Address): readonly DeepRecord[] {
  const { indexes, hashes, records, recordEnds } = rows
  const first = firstTransactionId(rows.ref.number)
  return Array.from(indexes).flatMap((index, place) => {
    if (!partiesAt(rows, place).includes(address)) return []
    return {
      id: first + index,
      hash: hashes.subarray(place * hashLength, (place + 1) * hashLength),
      bytes: records.subarray(recordEnds[place - 1] ?? 0, recordEnds[place])
    }
  })
}

/** Returns a block in the form in which it is stored as values again. Its candidates are left out. */
export function toIndexedBlock(rows: BlockRows): IndexedBlock {
  const { ref, parentHash, timestampSeconds, indexes, records, isTraced } = rows
  const first = firstTransactionId(ref.number)
  const ids = Array.from(indexes, index => first + index)
  const transactions = decodeDetailed({ ids, bytes: records }).map(({ transaction, details }, place) => ({
    transaction,
    ...details,
    parties: partiesAt(rows, place),
    candidates: []
  }))
  return { ref, parentHash, timestampSeconds, transactions, isTraced, events: eventsIn(rows) }
}

function partiesAt({ parties, partyEnds }: BlockRows, place: number): readonly Address[] {
  return hexesIn(parties, addressLength, partyEnds[place - 1] ?? 0, partyEnds[place] ?? 0)
}

/** Returns values of one length, from one position up to, and without, another. */
function hexesIn(bytes: Uint8Array, length: number, from: number, to: number): readonly Hash[] {
  return Array.from({ length: to - from }, (_, place) => {
    const start = (from + place) * length
    return toHex(bytes.subarray(start, start + length))
  })
}
