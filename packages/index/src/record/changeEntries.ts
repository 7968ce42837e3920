import { deflateRawSync, inflateRawSync } from 'node:zlib'
import type { Address, BlockRef, Hash } from '../model/evm.ts'
import { IndexDamagedError } from '../platform/errors.ts'
import { eachKey, hasKey } from './accountKeys.ts'
import { addressBytes, toHex } from './hexBytes.ts'
import { addressLength, hashLength } from './RecordParts.ts'
import { ByteReader, ByteWriter } from './recordBytes.ts'
import { firstTransactionId, toPosition } from './transactionId.ts'

/*
 * The bytes of entries of the log of changes: one change after the other, each with the accounts that it is about. So the log is searched
 * for accounts without reading a record. It holds records only where no other table does. All of it is deflated: some accounts are in many
 * changes of an entry.
 */

/** Numbers of the kinds of entries. */
export const entryKinds = { blocks: 1, rollback: 2, others: 3, settled: 4, restart: 5 } as const

/** A change of one transaction, for some of the accounts that it names. */
export type LoggedChange = LoggedBody & {
  /** The accounts, 20 bytes each. */
  readonly parties: Uint8Array
}

export type LoggedBody = PlacedBody | TakenBody | PendingBody | RemovedBody

/** It has come into a block, or its block is final. */
export interface PlacedBody {
  readonly kind: 'added' | 'confirmed' | 'final'
  readonly block: BlockRef
  readonly id: number
  /** Its block was final when it came: a change of kind `final` is read at the end of the entry, and takes no bytes. */
  readonly isFinal?: boolean
}

/** A reorg takes it from its block: that is told once it is known what becomes of it. */
interface TakenBody extends Omit<PlacedBody, 'kind' | 'isFinal'> {
  readonly kind: 'taken'
  readonly record: Uint8Array
}

/** It has come into the pool; it is in another part of it; or it is there again after a reorg. */
interface PendingBody {
  readonly kind: 'waiting' | 'updated' | 'unconfirmed'
  readonly pending: StoredPending
}

/** It is in neither the pool nor a block any more. */
interface RemovedBody {
  readonly kind: 'replaced' | 'dropped' | 'reorged'
  readonly hash: Hash
  readonly replacedBy?: Hash
}

/** A transaction of the pool as it is stored. */
export interface StoredPending {
  readonly status: 0 | 1
  /** When it was first seen. */
  readonly seconds: number
  readonly rec: Uint8Array
}

/** Added to what a change begins with. */
const finalMark = 128

/** What a change begins with; `block` names the block of the changes after it. */
const marks = [
  ...(['block', 'added', 'confirmed', 'final', 'taken', 'waiting', 'updated', 'unconfirmed'] as const),
  ...(['replaced', 'dropped', 'reorged'] as const)
]

/** Changes without accounts are left out. */
export function encodeChanges(changes: Iterable<LoggedChange>): Uint8Array {
  const writer = new ByteWriter(1_024)
  const counted = (bytes: Uint8Array) => {
    writer.varint(bytes.length)
    writer.bytes(bytes)
  }
  let block: BlockRef | undefined
  for (const change of changes) {
    if (change.parties.length === 0) continue
    if ('block' in change && change.block.hash !== block?.hash) {
      block = change.block
      writer.byte(0)
      writer.varint(block.number)
      writer.fixed(block.hash, hashLength)
    }
    writer.byte(marks.indexOf(change.kind) + ('isFinal' in change && change.isFinal ? finalMark : 0))
    writer.varint(change.parties.length / addressLength)
    writer.bytes(change.parties)
    if ('block' in change) {
      writer.varint(toPosition(change.id).index)
      if ('record' in change) counted(change.record)
    } else if ('pending' in change) {
      writer.byte(change.pending.status)
      writer.varint(change.pending.seconds)
      counted(change.pending.rec)
    } else {
      writer.fixed(change.hash, hashLength)
      writer.byte(change.replacedBy === undefined ? 0 : 1)
      if (change.replacedBy !== undefined) writer.fixed(change.replacedBy, hashLength)
    }
  }
  return deflateRawSync(writer.finish(), { level: 1 })
}

/** @param packed - as `encodeChanges` wrote them: their checksum agreed. */
export function* readChanges(packed: Uint8Array): Generator<LoggedChange> {
  const bytes = inflateRawSync(packed)
  const reader = new ByteReader(bytes)
  const take = (length: number) => {
    const at = reader.skip(length)
    return bytes.subarray(at, at + length)
  }
  const final: LoggedPlace[] = []
  let block: BlockRef = { number: 0, hash: '0x' }
  while (!reader.atEnd) {
    const mark = reader.byte()
    const kind = marks[mark % finalMark]
    if (kind === 'block') {
      block = { number: reader.varint(), hash: toHex(take(hashLength)) }
      continue
    }
    const parties = take(reader.varint() * addressLength)
    switch (kind) {
      case 'added':
      case 'confirmed':
      case 'final':
      case 'taken': {
        const place = { block, id: firstTransactionId(block.number) + reader.varint() }
        if (kind === 'taken') yield { kind, parties, ...place, record: take(reader.varint()) }
        else yield { kind, parties, ...place }
        if (mark >= finalMark) addParties(final, { parties, ...place })
        break
      }
      case 'waiting':
      case 'updated':
      case 'unconfirmed': {
        const status = reader.byte() === 0 ? 0 : 1
        yield { kind, parties, pending: { status, seconds: reader.varint(), rec: take(reader.varint()) } }
        break
      }
      case 'replaced':
      case 'dropped':
      case 'reorged': {
        const hash = toHex(take(hashLength))
        yield { kind, parties, hash, ...(reader.byte() === 1 && { replacedBy: toHex(take(hashLength)) }) }
        break
      }
      default:
        throw new IndexDamagedError({ part: 'change' }, 'it has a change of an unknown kind')
    }
  }
  for (const each of final) yield { kind: 'final', ...each }
}

/** A transaction of a logged block, with accounts that have it. */
export type LoggedPlace = Pick<PlacedBody, 'block' | 'id'> & Pick<LoggedChange, 'parties'>

/** Adds accounts of a transaction to a list, whose last transaction it may be. */
export function addParties(places: LoggedPlace[], { parties, ...place }: LoggedPlace): void {
  const before = places.at(-1)?.id === place.id ? places.pop()?.parties : undefined
  places.push({ ...place, parties: before ? Buffer.concat([before, parties]) : parties })
}

/** Returns the accounts of a change. @param keys - only those that have one of these, as of `accountKeys`. */
export function addressesIn(parties: Uint8Array, keys?: Uint32Array): readonly Address[] {
  const found: Address[] = []
  eachKey(parties, (key, end) => {
    if (keys === undefined || hasKey(keys, key)) found.push(toHex(parties.subarray(end - addressLength, end)))
  })
  return found
}

/** Inverse of `addressesIn`. */
export function partiesOf(addresses: Iterable<Address>): Uint8Array {
  return Buffer.concat(Array.from(addresses, addressBytes))
}
