import type { AccountEvent, AccountEvents } from '../model/evm.ts'
import { decodeAccountEvents, encodeAccountEvents } from './accountEvents.ts'
import { toHex } from './hexBytes.ts'
import { addressLength } from './RecordParts.ts'
import type { RowRoles } from './RecordRows.ts'
import { ByteReader, ByteWriter, damaged } from './recordBytes.ts'
import { candidateHeadLength } from './tokenKey.ts'

/*
 * The extra bytes of a block: what its index rows need and its records lack. Most blocks have none. Layout:
 *
 *   number of accounts with events (varint), for each: address (20), length of its events (varint), its events
 *     (`encodeAccountEvents`)
 *   then to the end, for each transaction with rows that do not follow from its record, ascending: its index in the block
 *     (varint), which lists follow (1: bit 1 parties, bit 2 candidates), those lists
 *   parties: their number (varint), for each: address (20), roles (1)
 *   candidates: their number (varint), for each: owner (20), contract (20), standard (1), length of the key (1), key of its ids (`writeToken`),
 *     roles (1)
 *
 * A list has all rows of the transaction, not only those that its record lacks. Real blocks list the parties of transactions with
 * EIP-7702 authorities or an ERC-1155 batch without ids, and no candidates.
 */

const partiesBit = 1
const candidatesBit = 2

/** Rows of a transaction that do not follow from its record; an absent list does. */
export interface ListedRows {
  /** Index of the transaction in its block. */
  readonly index: number
  readonly parties?: RowRoles
  readonly candidates?: RowRoles
}

/** What the extra bytes of a block hold, besides the events themselves. */
export interface Extra {
  /** Accounts with events, 20 bytes each. */
  readonly eventAddresses: readonly Uint8Array[]
  /** In the order of their indexes. */
  readonly listed: readonly ListedRows[]
}

/** @param listed - ascending by index. */
export function encodeExtra(accounts: readonly AccountEvents[], listed: readonly ListedRows[]): Buffer {
  const writer = new ByteWriter(64 * accounts.length + 256 * listed.length)
  if (accounts.length + listed.length === 0) return writer.finish()
  writer.varint(accounts.length)
  for (const { address, events } of accounts) {
    const bytes = encodeAccountEvents(events)
    writer.fixed(address, addressLength)
    writer.varint(bytes.length)
    writer.bytes(bytes)
  }
  for (const { index, parties, candidates } of listed) {
    writer.varint(index)
    writer.byte((parties ? partiesBit : 0) | (candidates ? candidatesBit : 0))
    for (const rows of [parties, candidates]) {
      if (rows === undefined) continue
      writer.varint(rows.size)
      for (const [row, roles] of rows) {
        writer.latin1(row)
        writer.byte(roles)
      }
    }
  }
  return writer.finish()
}

/** @throws {StoreError} the bytes are damaged. */
export function decodeExtra(extra: Uint8Array): Extra {
  const reader = new ByteReader(extra)
  const eventAddresses = readAccounts(extra, reader).map(({ address }) => address)
  const listed: ListedRows[] = []
  while (!reader.atEnd) {
    const index = reader.varint()
    const lists = reader.byte()
    if (index <= (listed.at(-1)?.index ?? -1)) throw damaged('its transactions with other rows do not ascend')
    if (lists < partiesBit || lists > (partiesBit | candidatesBit))
      throw damaged('it has an unknown list of rows')
    listed.push({
      index,
      ...((lists & partiesBit) > 0 && { parties: readRows(extra, reader, () => addressLength) }),
      ...((lists & candidatesBit) > 0 && {
        candidates: readRows(
          extra,
          reader,
          at => candidateHeadLength + (extra[at + candidateHeadLength - 1] ?? 0)
        )
      })
    })
  }
  return { eventAddresses, listed }
}

/**
 * Reads the events of all accounts from the extra bytes of a block.
 * @throws {StoreError} the bytes are damaged.
 */
export function accountEventsIn(extra: Uint8Array): readonly AccountEvents[] {
  return readAccounts(extra, new ByteReader(extra)).map(({ address, events }) => ({
    address: toHex(address),
    events: decodeAccountEvents(events)
  }))
}

/**
 * Reads the events of one account from the extra bytes of a block.
 * @param address - its 20 bytes.
 * @returns `undefined` where the block has no events of the account.
 * @throws {StoreError} the bytes are damaged.
 */
export function findAccountEvents(
  extra: Uint8Array,
  address: Uint8Array
): readonly AccountEvent[] | undefined {
  const accounts = readAccounts(extra, new ByteReader(extra))
  const found = accounts.find(each => Buffer.compare(each.address, address) === 0)
  return found && decodeAccountEvents(found.events)
}

function readAccounts(extra: Uint8Array, reader: ByteReader) {
  const take = (length: number) => {
    const at = reader.skip(length)
    return extra.subarray(at, at + length)
  }
  return reader.atEnd
    ? []
    : reader.many(() => ({ address: take(addressLength), events: take(reader.varint()) }))
}

/** @param lengthAt - returns the length of the row that begins there. */
function readRows(extra: Uint8Array, reader: ByteReader, lengthAt: (at: number) => number): RowRoles {
  const rows = new Map<string, number>()
  const { buffer, byteOffset, length: end } = extra
  const bytes = Buffer.from(buffer, byteOffset, end)
  for (let left = reader.varint(); left > 0; left--) {
    const length = lengthAt(reader.at)
    const at = reader.skip(length)
    rows.set(bytes.toString('latin1', at, at + length), reader.byte())
  }
  return rows
}
