import { addressLength } from './encodeBlock.ts'
import type { PackedBlocks } from './packBlocks.ts'
import { ByteReader, ByteWriter } from './recordBytes.ts'
import { firstTransactionId, toPosition } from './transactionId.ts'

/** A party of a transaction. */
interface PartyRow {
  /** Its 20 bytes. */
  readonly address: Uint8Array
  readonly id: number
}

/**
 * Encodes the parties of the transactions of single blocks, for the log of changes: it is searched for accounts without reading
 * records. For each transaction: index, number of parties, addresses.
 * @param aboveBlock - only of blocks above this one.
 * @returns by block number; blocks without entries are left out.
 */
export function encodeParties(
  { partyIds, partyAddresses }: PackedBlocks,
  aboveBlock: number
): ReadonlyMap<number, Buffer> {
  const first = firstTransactionId(Math.max(0, aboveBlock + 1))
  const rowsOf = new Map<number, number[]>()
  for (let row = 0; row < partyIds.length; row++) {
    const id = partyIds[row] ?? 0
    if (id < first) continue
    const rows = rowsOf.get(id)
    if (rows === undefined) rowsOf.set(id, [row])
    else rows.push(row)
  }
  const writers = new Map<number, ByteWriter>()
  for (const [id, rows] of [...rowsOf].sort(([a], [b]) => a - b)) {
    const { blockNumber, index } = toPosition(id)
    const writer = writers.get(blockNumber) ?? new ByteWriter(1024)
    writers.set(blockNumber, writer)
    writer.varint(index)
    writer.varint(rows.length)
    for (const row of rows)
      writer.bytes(partyAddresses.subarray(row * addressLength, (row + 1) * addressLength))
  }
  return new Map([...writers].map(([number, writer]) => [number, writer.finish()]))
}

/** @throws {StoreError} the bytes are damaged. */
export function decodeParties(blockNumber: number, bytes: Uint8Array): readonly PartyRow[] {
  const reader = new ByteReader(bytes)
  const firstId = firstTransactionId(blockNumber)
  const rows: PartyRow[] = []
  while (!reader.atEnd) {
    const id = firstId + reader.varint()
    for (let left = reader.varint(); left > 0; left--) {
      const at = reader.skip(addressLength)
      rows.push({ address: bytes.subarray(at, at + addressLength), id })
    }
  }
  return rows
}
