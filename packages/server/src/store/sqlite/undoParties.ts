import type { Address, IndexedBlock } from '../../model/evm.ts'
import { ByteReader, ByteWriter } from '../recordBytes.ts'
import { firstTransactionId } from '../transactionId.ts'

/** One row of the address index, by what its key is made of. */
export interface AddressEntry {
  readonly address: Address
  readonly id: number
}

/**
 * The address index entries of one block: records name sender and receiver, but not the parties of logged transfers,
 * and a rollback must find those too. Transaction after transaction: index, count, addresses.
 */
export function encodeParties({ transactions }: IndexedBlock): Buffer {
  const writer = new ByteWriter(64 * transactions.length)
  for (const { transaction, parties } of transactions) {
    writer.varint(transaction.index)
    writer.varint(parties.length)
    for (const address of parties) writer.fixed(address, 20)
  }
  return writer.finish()
}

/** @throws {StoreError} the bytes are damaged. */
export function decodeParties(blockNumber: number, bytes: Uint8Array): readonly AddressEntry[] {
  const reader = new ByteReader(bytes)
  const firstId = firstTransactionId(blockNumber)
  const entries: AddressEntry[] = []
  while (!reader.atEnd) {
    const id = firstId + reader.varint()
    for (let left = reader.varint(); left > 0; left--) entries.push({ address: reader.fixed(20), id })
  }
  return entries
}
