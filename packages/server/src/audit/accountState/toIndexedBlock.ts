import { decodeAccountEvents } from '../../index/record/accountEvents.ts'
import { decodeDetailed } from '../../index/record/details.ts'
import { addressLength, type BlockRows } from '../../index/record/encodeBlock.ts'
import { toHex } from '../../index/record/hexBytes.ts'
import { firstTransactionId } from '../../index/record/transactionId.ts'
import type { AccountEvents, Address, IndexedBlock } from '../../model/evm.ts'

/** A block in the form in which it is stored, as values again. Its candidates are left out. */
export function toIndexedBlock(rows: BlockRows): IndexedBlock {
  const { ref, parentHash, timestampSeconds, indexes, records, partyEnds, parties, isTraced } = rows
  const first = firstTransactionId(ref.number)
  const ids = Array.from(indexes, index => first + index)
  const transactions = decodeDetailed({ ids, bytes: records }).map(({ transaction, details }, place) => ({
    transaction,
    ...details,
    parties: addressesIn(parties, partyEnds[place - 1] ?? 0, partyEnds[place] ?? 0),
    candidates: []
  }))
  return { ref, parentHash, timestampSeconds, transactions, isTraced, events: eventsIn(rows) }
}

function eventsIn({ eventAddresses, events, eventEnds }: BlockRows): readonly AccountEvents[] {
  return Array.from(eventEnds, (end, place) => {
    const [address = '0x'] = addressesIn(eventAddresses, place, place + 1)
    return { address, events: decodeAccountEvents(events.subarray(eventEnds[place - 1] ?? 0, end)) }
  })
}

function addressesIn(bytes: Uint8Array, from: number, to: number): readonly Address[] {
  return Array.from({ length: to - from }, (_, place) => {
    const start = (from + place) * addressLength
    return toHex(bytes.subarray(start, start + addressLength))
  })
}
