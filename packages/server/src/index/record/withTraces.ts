import type { AccountEvents, InternalTransfer } from '../../model/evm.ts'
import { StoreError } from '../../platform/errors.ts'
import { encodeAccountEvents } from './accountEvents.ts'
import { addressLength, type BlockRows } from './encodeBlock.ts'
import { addressBytes, toHex } from './hexBytes.ts'
import { recordKinds } from './RecordParts.ts'
import { decodeConfirmed } from './record.ts'
import { ByteWriter } from './recordBytes.ts'
import { writeInternal } from './transfers.ts'

/** What the traces of a block tell, once it is known that they are this block's. */
export interface BlockTraces {
  /** For each transaction, in block order. */
  readonly internal: readonly (readonly InternalTransfer[])[]
  /** Each account once. */
  readonly events: readonly AccountEvents[]
}

/**
 * Lays traces over a block that was read without them: records have their internal transfers, whose payers and receivers
 * become parties, and events are joined.
 *
 * @returns new rows; those given are not changed.
 * @throws {StoreError} the block is traced already, or the traces are of another number of transactions.
 * @remarks Copies the records, and looks at those of which nothing is told no further.
 */
export function withTraces(rows: BlockRows, traces: BlockTraces): BlockRows {
  const { ref, isTraced, transactionCount } = rows
  if (isTraced || traces.internal.length !== transactionCount) {
    throw new StoreError(
      `block ${ref.number} of ${transactionCount} transactions ${isTraced ? 'is traced already' : `cannot have traces of ${traces.internal.length}`}`,
      { blockNumber: ref.number }
    )
  }
  return {
    ...rows,
    ...tracedRecords(rows, traces.internal),
    ...(traces.internal.some(({ length }) => length > 0) && joinParties(rows, traces.internal)),
    ...(traces.events.length > 0 && joinEvents(rows, traces.events)),
    isTraced: true
  }
}

function tracedRecords(
  { ref, records, recordEnds: ends, indexes }: BlockRows,
  internal: BlockTraces['internal']
): Pick<BlockRows, 'records' | 'recordEnds'> {
  const writer = new ByteWriter(records.length + ends.length)
  const recordEnds = new Uint32Array(ends.length)
  let start = 0
  for (const [place, transfers] of internal.entries()) {
    const end = ends[place] ?? start
    if (records[start] !== recordKinds.withTransfers) {
      throw new StoreError(`a record of block ${ref.number} cannot be traced: its kind is ${records[start]}`)
    }
    writer.byte(recordKinds.traced)
    writer.bytes(records, start + 1, end)
    if (transfers.length === 0) writer.byte(0)
    else {
      const position = { blockNumber: ref.number, index: indexes[place] ?? 0 }
      const transaction = decodeConfirmed(records.subarray(start, end), position)
      writer.counted(() => writeInternal(writer, transaction, transfers))
    }
    recordEnds[place] = writer.length
    start = end
  }
  return { records: writer.finish(), recordEnds }
}

function joinParties(
  { parties, partyEnds: ends }: BlockRows,
  internal: BlockTraces['internal']
): Pick<BlockRows, 'parties' | 'partyEnds'> {
  const writer = new ByteWriter(2 * parties.length)
  const partyEnds = new Uint32Array(ends.length)
  let start = 0
  for (const [place, transfers] of internal.entries()) {
    const end = (ends[place] ?? 0) * addressLength
    const own = parties.subarray(start, end)
    writer.bytes(own)
    if (transfers.length > 0) {
      const known = new Set(addressesIn(own))
      const joined = new Set(transfers.flatMap(({ from, to }) => [from, to]))
      for (const address of joined) if (!known.has(address)) writer.bytes(addressBytes(address))
    }
    partyEnds[place] = writer.length / addressLength
    start = end
  }
  return { parties: writer.finish(), partyEnds }
}

/** Events stand one behind the other, so that those of one account are joined as bytes. */
function joinEvents(
  { eventAddresses, events, eventEnds }: BlockRows,
  added: readonly AccountEvents[]
): Pick<BlockRows, 'eventAddresses' | 'events' | 'eventEnds'> {
  const accounts = new Map<string, Uint8Array>()
  for (const [row, address] of addressesIn(eventAddresses).entries()) {
    accounts.set(address, events.subarray(eventEnds[row - 1] ?? 0, eventEnds[row]))
  }
  for (const { address, events: more } of added) {
    const before = accounts.get(address) ?? new Uint8Array()
    accounts.set(address, Buffer.concat([before, encodeAccountEvents(more)]))
  }
  let end = 0
  return {
    eventAddresses: Buffer.from([...accounts.keys()].map(address => address.slice(2)).join(''), 'hex'),
    events: Buffer.concat([...accounts.values()]),
    eventEnds: Uint32Array.from(accounts.values(), ({ length }) => {
      end += length
      return end
    })
  }
}

function addressesIn(bytes: Uint8Array): readonly string[] {
  return Array.from({ length: bytes.length / addressLength }, (_, row) =>
    toHex(bytes.subarray(row * addressLength, (row + 1) * addressLength))
  )
}
