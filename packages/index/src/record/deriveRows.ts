import { decodeExtra } from './extra.ts'
import type { PackedBlocks } from './packBlocks.ts'
import { addressLength, hashLength } from './RecordParts.ts'
import { RecordRows } from './RecordRows.ts'
import { RoleColumns } from './RoleColumns.ts'
import type { RunRows } from './RunRows.ts'
import { damaged } from './recordBytes.ts'
import { firstTransactionId, maxTransactionsPerBlock } from './transactionId.ts'

/** Offset of the hash in a record. */
const hashOffset = 1

/** Consecutive blocks as they are stored, from `firstBlock` on; `extraEnds` has an entry for each of them. */
export interface StoredBlocks extends Pick<PackedBlocks, 'ids' | 'records' | 'extras' | 'extraEnds'> {
  readonly firstBlock: number
}

/**
 * Derives all rows of consecutive blocks from what is stored of them: the same rows that their commit has written.
 * @throws {StoreError} the bytes are damaged, or are not those of these transactions.
 */
export function deriveRows({ firstBlock, ids, records, extras, extraEnds }: StoredBlocks): RunRows {
  const bytes = Buffer.from(records.buffer, records.byteOffset, records.length)
  const hashes = Buffer.allocUnsafe(hashLength * ids.length)
  const parties = new RoleColumns(4 * addressLength * ids.length)
  const candidates = new RoleColumns(4 * addressLength * ids.length)
  const eventAddresses: Uint8Array[] = []
  const eventBlocks: number[] = []
  const derived = new RecordRows()
  let row = 0
  let at = 0
  for (let block = 0; block < extraEnds.length; block++) {
    const number = firstBlock + block
    const extra = decodeExtra(extras.subarray(extraEnds[block - 1] ?? 0, extraEnds[block]))
    for (const address of extra.eventAddresses) {
      eventAddresses.push(address)
      eventBlocks.push(number)
    }
    const first = firstTransactionId(number)
    let listedAt = 0
    for (; row < ids.length; row++) {
      const id = ids[row] ?? 0
      if (id < first || id >= first + maxTransactionsPerBlock) break
      bytes.copy(hashes, row * hashLength, at + hashOffset, at + hashOffset + hashLength)
      at = derived.read(bytes, at)
      const next = extra.listed[listedAt]
      const listed = next?.index === id - first ? next : undefined
      if (listed !== undefined) listedAt++
      parties.add(id, listed?.parties ?? derived.parties)
      candidates.add(id, listed?.candidates ?? derived.candidates)
    }
    if (listedAt < extra.listed.length)
      throw damaged(`block ${number} has other rows of a transaction that it lacks`)
  }
  if (row < ids.length || at < bytes.length) throw damaged('there are records of other blocks')
  const { bytes: partyAddresses, ids: partyIds, roles: partyRoles } = parties.finish()
  const { bytes: ofCandidates, ends, ids: candidateIds, roles: candidateRoles } = candidates.finish()
  return {
    firstBlock,
    lastBlock: firstBlock + extraEnds.length - 1,
    ...{ ids, hashes, partyAddresses, partyIds, partyRoles },
    ...{ candidates: ofCandidates, candidateEnds: ends, candidateIds, candidateRoles },
    eventAddresses: Buffer.concat(eventAddresses),
    eventBlocks: new Float64Array(eventBlocks)
  }
}
