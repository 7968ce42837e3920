import type { AccountEvent } from '../model/evm.ts'
import { ByteReader, ByteWriter, damaged, integerAt } from './recordBytes.ts'

/** Kinds by their stored number; a number never changes its meaning. */
const kinds = ['withdrawal', 'tip', 'reward', 'mint', 'authorization', 'creation', 'burn'] as const

/** Encodes the events of one account in one block: for each its kind (1), then its amount, nonce or count (integer). */
export function encodeAccountEvents(events: readonly AccountEvent[]): Buffer {
  const writer = new ByteWriter(16 * events.length)
  for (const event of events) {
    writer.byte(kinds.indexOf(event.kind))
    if (event.kind === 'authorization') writer.integer(event.nonce)
    else if (event.kind === 'creation') writer.integer(BigInt(event.count))
    else writer.integer(event.amount)
  }
  return writer.finish()
}

/** @throws {StoreError} the bytes are damaged. */
export function decodeAccountEvents(bytes: Uint8Array): readonly AccountEvent[] {
  const reader = new ByteReader(bytes)
  const events: AccountEvent[] = []
  while (!reader.atEnd) {
    const kind = kinds[reader.byte()]
    if (kind === undefined) throw damaged('it has an unknown kind of event')
    const value = integerAt(bytes, reader.integer())
    if (kind === 'authorization') events.push({ kind, nonce: value })
    else if (kind === 'creation') events.push({ kind, count: Number(value) })
    else events.push({ kind, amount: value })
  }
  return events
}
