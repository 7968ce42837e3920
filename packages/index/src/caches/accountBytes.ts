import type { DeepGap, DeepRecord } from '../model/deepHistory.ts'
import type { Address, BlockRef, HoldingCandidate } from '../model/evm.ts'
import { hashLength, hashOffset } from '../record/RecordParts.ts'
import { ByteReader, ByteWriter, hexAt } from '../record/recordBytes.ts'
import { readToken, writeToken } from '../record/tokenKey.ts'

/** Bytes of each hash by which a record is looked for among those of an account. */
const markLength = 4

/** What is known of an account, as its entry has it. */
export interface Account {
  readonly anchor: BlockRef
  /** By list: the first block from which on it is known. */
  readonly from: Readonly<Record<'records' | 'candidates', number>>
  readonly gaps: readonly DeepGap[]
  /** Bytes of all parts. */
  readonly weight: number
}

/** By their bits. */
const allGaps: readonly DeepGap[] = ['zero-value-receipts', 'authorities', 'payments-passed-on']

export function encodeAccount({ anchor, from, gaps, weight }: Account): Buffer {
  const writer = new ByteWriter(64)
  writer.fixed(anchor.hash, hashLength)
  writer.byte(allGaps.reduce((bits, gap, at) => (gaps.includes(gap) ? bits | (1 << at) : bits), 0))
  for (const number of [anchor.number, from.records, from.candidates, weight]) writer.varint(number)
  return writer.finish()
}

export function decodeAccount(bytes: Uint8Array): Account {
  const reader = new ByteReader(bytes)
  const hash = hexAt(bytes, reader.skip(hashLength), hashLength)
  const bits = reader.byte()
  return {
    anchor: { hash, number: reader.varint() },
    gaps: allGaps.filter((_, at) => (bits & (1 << at)) !== 0),
    from: { records: reader.varint(), candidates: reader.varint() },
    weight: reader.varint()
  }
}

export function encodeRecords(records: readonly DeepRecord[]): Buffer {
  const writer = new ByteWriter(256 * (1 + records.length))
  writer.varint(records.length)
  for (const { id, bytes } of records) {
    writer.varint(id)
    writer.varint(bytes.length)
    writer.bytes(bytes)
  }
  return writer.finish()
}

export function decodeRecords(body: Uint8Array): readonly DeepRecord[] {
  const reader = new ByteReader(body)
  return reader.many(() => {
    const id = reader.varint()
    const at = reader.skip(reader.varint())
    return { id, bytes: body.subarray(at, reader.at) }
  })
}

export function encodeCandidates(candidates: readonly HoldingCandidate[]): Buffer {
  const writer = new ByteWriter(64 * (1 + candidates.length))
  writer.varint(candidates.length)
  for (const each of candidates) writeToken(writer, each)
  return writer.finish()
}

export function decodeCandidates(owner: Address, body: Uint8Array): readonly HoldingCandidate[] {
  const reader = new ByteReader(body)
  return reader.many(() => ({ owner, ...readToken(reader, body) }))
}

/** The first bytes of the hashes of records. */
export function marksOf(records: readonly DeepRecord[]): Buffer {
  return Buffer.concat(records.map(({ bytes }) => bytes.subarray(hashOffset, hashOffset + markLength)))
}

export function hasMark(marks: Uint8Array, hash: Buffer): boolean {
  for (let at = 0; at < marks.length; at += markLength)
    if (hash.compare(marks, at, at + markLength, 0, markLength) === 0) return true
  return false
}
