import { addressLength, type BlockRows, hashLength } from '../../../index/record/encodeBlock.ts'
import { addressBytes } from '../../../index/record/hexBytes.ts'
import { firstTransactionId } from '../../../index/record/transactionId.ts'
import type { DeepRecord } from '../../../model/deepHistory.ts'
import type { Address } from '../../../model/evm.ts'

/** The transactions of a block that an account is a party of, as an index keeps them. */
export function recordsOf(rows: BlockRows, address: Address): readonly DeepRecord[] {
  const wanted = addressBytes(address)
  const first = firstTransactionId(rows.ref.number)
  const found: DeepRecord[] = []
  for (const [place, index] of rows.indexes.entries()) {
    if (!isParty(rows, place, wanted)) continue
    found.push({
      id: first + index,
      hash: rows.hashes.subarray(place * hashLength, (place + 1) * hashLength),
      bytes: rows.records.subarray(rows.recordEnds[place - 1] ?? 0, rows.recordEnds[place])
    })
  }
  return found
}

function isParty({ parties, partyEnds }: BlockRows, place: number, wanted: Buffer): boolean {
  for (let party = partyEnds[place - 1] ?? 0; party < (partyEnds[place] ?? 0); party++) {
    const start = party * addressLength
    if (wanted.equals(parties.subarray(start, start + addressLength))) return true
  }
  return false
}
