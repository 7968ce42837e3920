import type { DeepGap, DeepHistoryCache, DeepRecord, DeepStretch } from '../model/deepHistory.ts'
import type { Address, BlockRef, Hash, HoldingCandidate } from '../model/evm.ts'
import { StoreUnavailableError } from '../platform/errors.ts'
import { addressBytes, hashBytes } from '../record/hexBytes.ts'
import { hashLength, hashOffset } from '../record/RecordParts.ts'
import { ByteReader, ByteWriter, hexAt } from '../record/recordBytes.ts'
import { readToken, writeToken } from '../record/tokenKey.ts'
import { firstTransactionId, toPosition } from '../record/transactionId.ts'
import { sumOfRow } from '../store/rowSums.ts'
import { ask, type CacheDatabase, type Steps } from './cacheDatabase.ts'
import { evict, findEntries, putEntry, removeEntry, touchEntry } from './entries.ts'

/** Parts of a history that are read at once. */
const partsAtOnce = 4
/** Bytes of an account and of a part besides their values, about, index entries included. */
const overheadBytes = 200
/** A use is stored only if the last one is older: reading must not become writing. */
const useGrainMs = 60_000
/** Bytes of each hash by which a record is looked for among those of an account. */
const markLength = 4

/** The lists of an account, each known from a block up to the anchor, in parts. */
const lists = { records: 0, candidates: 1 } as const

/** What is known of an account. */
interface Account {
  readonly anchor: BlockRef
  /** By list: the first block from which on it is known. */
  readonly from: Readonly<Record<keyof typeof lists, number>>
  readonly gaps: readonly DeepGap[]
  /** Bytes of all parts. */
  readonly weight: number
}

interface FoundAccount extends Account {
  readonly id: number
  readonly usedAtMs: number
}

/** What a list has of the blocks from `low` up to, and without, `above`. */
interface PartRow {
  readonly low: number
  readonly above: number
  readonly sum: number
  readonly body: Uint8Array
}

export interface DeepHistoryCacheOptions {
  readonly chainId: number
  /** Approximate maximum of bytes; one account may have more. */
  readonly bound: number
  /** `Date.now`, replaced in tests. */
  readonly now: () => number
  /** Called for what differs from its checksums: its account counts as unknown, and is read from the nodes again. */
  onDamage?(): void
}

/** Creates the cache of what is older than one chain's index, over the tables of an engine's `cacheDatabase.ts`. */
export function createDeepHistoryCache(
  database: CacheDatabase,
  { chainId, bound, now, onDamage }: DeepHistoryCacheOptions
): DeepHistoryCache {
  const sumOfPart = (account: number, list: number, { low, above, body }: Omit<PartRow, 'sum'>) =>
    sumOfRow(chainId, 'part', { account, list, low, above, body })

  function* find(address: Address, anchor: BlockRef): Steps<FoundAccount | undefined> {
    const [row] = yield* findEntries([chainId], [addressBytes(address)])
    if (row?.body === undefined) return row && (yield* forget(row.id))
    const account = decodeAccount(row.body)
    // Else what was kept is older than another block.
    const isSame = account.anchor.number === anchor.number && account.anchor.hash === anchor.hash
    return isSame ? { ...account, id: row.id, usedAtMs: row.usedAtMs } : undefined
  }

  /** Removes an account of which something is not what was written. */
  function* forget(id: number): Steps<undefined> {
    onDamage?.()
    yield* removeEntry(id)
    return undefined
  }

  function* put(address: Address, account: Account): Steps<number> {
    const weight = overheadBytes + account.weight
    return yield* putEntry(chainId, addressBytes(address), encodeAccount(account), weight, now())
  }

  function* remove(address: Address): Steps<void> {
    const [row] = yield* findEntries([chainId], [addressBytes(address)])
    if (row !== undefined) yield* removeEntry(row.id)
  }

  function* save(address: Address, anchor: BlockRef, stretch: DeepStretch): Steps<void> {
    const known = yield* find(address, anchor)
    let account: Account = known ?? unknownAccount(anchor)
    if (known === undefined) yield* remove(address)
    const id = known?.id ?? (yield* put(address, account))
    for (const list of ['records', 'candidates'] as const) {
      const above = account.from[list]
      const { from: low, below } = stretch
      if (stretch[list] === undefined || below < above || low >= above) continue
      // What lies above is stored already.
      const endId = firstTransactionId(above)
      const records = (stretch.records ?? []).filter(each => each.id < endId).sort((a, b) => b.id - a.id)
      const [body, marks] =
        list === 'records'
          ? [encodeRecords(records), marksOf(records)]
          : [encodeCandidates(stretch.candidates ?? []), noMarks]
      yield* ask(
        `INSERT INTO cache.part (account, list, low, above, sum, marks, body) VALUES ($1, $2, $3, $4, $5, $6, $7)`,
        ...[id, lists[list], low, above, sumOfPart(id, lists[list], { low, above, body }), marks, body]
      )
      const gaps = list === 'records' ? [...account.gaps, ...(stretch.gaps ?? [])] : account.gaps
      const weight = account.weight + body.length + marks.length + overheadBytes
      account = { anchor, from: { ...account.from, [list]: low }, gaps, weight }
    }
    yield* put(address, account)
    yield* evict(chainId, bound, id)
  }

  function* knownOf(address: Address, anchor: BlockRef): Steps<Account> {
    const found = yield* find(address, anchor)
    if (found === undefined) return unknownAccount(anchor)
    if (Math.abs(now() - found.usedAtMs) > useGrainMs) yield* touchEntry(found.id, now())
    return found
  }

  /**
   * Reads parts of a list, from a block down.
   * @throws {StoreUnavailableError} the account has left since it was found, or a part of it is not what was written.
   */
  function* read(
    list: keyof typeof lists,
    address: Address,
    account: FoundAccount,
    highest: number,
    limit: number
  ): Steps<readonly PartRow[]> {
    const { id, anchor } = account
    const top = Math.min(highest, anchor.number - 1)
    if (account.from[list] > top) return []
    const parts = yield* ask<PartRow>(
      `SELECT low, above, sum, body FROM cache.part WHERE account = $1 AND list = $2 AND low <= $3 ORDER BY low DESC LIMIT $4`,
      ...[id, lists[list], top, limit]
    )
    // Still there afterwards, so it was there with all its parts before.
    if ((yield* find(address, anchor))?.id !== id) throw hasLeft()
    let reached = top + 1
    const isSound = parts.every((each, at) => {
      const isNext = at === 0 ? each.above >= reached : each.above === reached
      reached = each.low
      return isNext && each.sum === sumOfPart(id, lists[list], each)
    })
    if (isSound && (parts.length === limit || reached <= account.from[list])) return parts
    yield* forget(id)
    throw hasLeft()
  }

  function* readRecords(
    address: Address,
    account: FoundAccount,
    belowId: number
  ): Steps<readonly DeepRecord[]> {
    for (let highest = toPosition(belowId - 1).blockNumber; ; ) {
      const parts = yield* read('records', address, account, highest, partsAtOnce)
      const found = parts.flatMap(({ body }) => decodeRecords(body)).filter(({ id }) => id < belowId)
      if (found.length > 0 || parts.length < partsAtOnce) return found
      highest = (parts.at(-1)?.low ?? 0) - 1
    }
  }

  function* candidatesOf(address: Address, anchor: BlockRef): Steps<readonly HoldingCandidate[]> {
    const account = yield* find(address, anchor)
    if (account === undefined) return []
    const parts = yield* read('candidates', address, account, anchor.number, 2 ** 31)
    const all = parts.flatMap(({ body }) => decodeCandidates(address, body))
    return [...new Map(all.map(each => [Object.values(each).join(), each])).values()]
  }

  function* lookUp(address: Address, hash: Hash, anchor: BlockRef): Steps<number | undefined> {
    const account = yield* find(address, anchor)
    if (account === undefined) return undefined
    const marked = yield* ask<{ low: number; marks: Uint8Array }>(
      `SELECT low, marks FROM cache.part WHERE account = $1 AND list = ${lists.records}`,
      account.id
    )
    for (const { low, marks } of marked) {
      if (!hasMark(marks, hashBytes(hash))) continue
      const parts = yield* read('records', address, account, low, 1)
      const records = parts.flatMap(({ body }) => decodeRecords(body))
      const found = records.find(({ bytes }) => hexAt(bytes, hashOffset, hashLength) === hash)
      if (found !== undefined) return found.id
    }
    return undefined
  }

  return {
    async known(address, anchor) {
      const { from, gaps } = await database.run(() => knownOf(address, anchor))
      return { recordsFrom: from.records, candidatesFrom: from.candidates, gaps }
    },
    async *records(address, anchor, { belowId, limit = Number.POSITIVE_INFINITY }) {
      const account = await database.run(() => find(address, anchor))
      if (account === undefined) return
      let below = belowId
      for (let left = limit; left > 0; ) {
        const found = (await database.run(() => readRecords(address, account, below))).slice(0, left)
        const last = found.at(-1)
        if (last === undefined) return
        yield { ids: found.map(({ id }) => id), bytes: Buffer.concat(found.map(({ bytes }) => bytes)) }
        below = last.id
        left -= found.length
      }
    },
    candidates: (address, anchor) => database.run(() => candidatesOf(address, anchor)),
    lookUpHash: (address, hash, anchor) => database.run(() => lookUp(address, hash, anchor)),
    save: (address, anchor, stretch) =>
      database.transaction(String(chainId), () => save(address, anchor, stretch)),
    forget: address => database.run(() => remove(address)),
    close: () => database.close()
  }
}

/** By their bits. */
const allGaps: readonly DeepGap[] = ['zero-value-receipts', 'authorities', 'payments-passed-on']
const noMarks = Buffer.alloc(0)

function unknownAccount(anchor: BlockRef): Account {
  return { anchor, from: { records: anchor.number, candidates: anchor.number }, gaps: [], weight: 0 }
}

function encodeAccount({ anchor, from, gaps, weight }: Account): Buffer {
  const writer = new ByteWriter(64)
  writer.fixed(anchor.hash, hashLength)
  writer.byte(allGaps.reduce((bits, gap, at) => (gaps.includes(gap) ? bits | (1 << at) : bits), 0))
  for (const number of [anchor.number, from.records, from.candidates, weight]) writer.varint(number)
  return writer.finish()
}

function decodeAccount(bytes: Uint8Array): Account {
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

function encodeRecords(records: readonly DeepRecord[]): Buffer {
  const writer = new ByteWriter(256 * (1 + records.length))
  writer.varint(records.length)
  for (const { id, bytes } of records) {
    writer.varint(id)
    writer.varint(bytes.length)
    writer.bytes(bytes)
  }
  return writer.finish()
}

function decodeRecords(body: Uint8Array): readonly DeepRecord[] {
  const reader = new ByteReader(body)
  return reader.many(() => {
    const id = reader.varint()
    const at = reader.skip(reader.varint())
    return { id, bytes: body.subarray(at, reader.at) }
  })
}

function encodeCandidates(candidates: readonly HoldingCandidate[]): Buffer {
  const writer = new ByteWriter(64 * (1 + candidates.length))
  writer.varint(candidates.length)
  for (const each of candidates) writeToken(writer, each)
  return writer.finish()
}

function decodeCandidates(owner: Address, body: Uint8Array): readonly HoldingCandidate[] {
  const reader = new ByteReader(body)
  return reader.many(() => ({ owner, ...readToken(reader, body) }))
}

/** The first bytes of the hashes of records. */
function marksOf(records: readonly DeepRecord[]): Buffer {
  return Buffer.concat(records.map(({ bytes }) => bytes.subarray(hashOffset, hashOffset + markLength)))
}

function hasMark(marks: Uint8Array, hash: Buffer): boolean {
  for (let at = 0; at < marks.length; at += markLength)
    if (hash.compare(marks, at, at + markLength, 0, markLength) === 0) return true
  return false
}

/** Error of a reader whose account was evicted meanwhile; the next call reads it from the nodes again. */
export function hasLeft(): StoreUnavailableError {
  return new StoreUnavailableError('what was kept of an account below the index has left while it was read')
}
