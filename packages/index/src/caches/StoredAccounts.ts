import type { DeepRecord, DeepStretch } from '../model/deepHistory.ts'
import type { Address, BlockRef, Hash, HoldingCandidate } from '../model/evm.ts'
import { StoreUnavailableError } from '../platform/errors.ts'
import { addressBytes, hashBytes } from '../record/hexBytes.ts'
import { hashLength, hashOffset } from '../record/RecordParts.ts'
import { hexAt } from '../record/recordBytes.ts'
import { firstTransactionId, toPosition } from '../record/transactionId.ts'
import { sumOfRow } from '../store/rowSums.ts'
import {
  type Account,
  decodeAccount,
  decodeCandidates,
  decodeRecords,
  encodeAccount,
  encodeCandidates,
  encodeRecords,
  hasMark,
  marksOf
} from './accountBytes.ts'
import { ask, type Steps } from './cacheDatabase.ts'
import { evict, findEntries, putEntry, removeEntry, touchEntry } from './entries.ts'

/** Parts of a history that are read at once. */
const partsAtOnce = 4
/** Bytes of an account and of a part besides their values, about, index entries included. */
const overheadBytes = 200
/** A use is stored only if the last one is older: reading must not become writing. */
const useGrainMs = 60_000

/** The lists of an account, each known from a block up to the anchor, in parts. */
const lists = { records: 0, candidates: 1 } as const

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

export interface StoredAccountsOptions {
  readonly chainId: number
  /** Approximate maximum of bytes; one account may have more. */
  readonly bound: number
  /** `Date.now`, replaced in tests. */
  readonly now: () => number
  /** Called for what differs from its checksums: its account counts as unknown, and is read from the nodes again. */
  onDamage?(): void
}

/** The accounts of one chain in the tables of a cache: the steps of each use of them. */
export class StoredAccounts {
  readonly #options: StoredAccountsOptions

  constructor(options: StoredAccountsOptions) {
    this.#options = options
  }

  /** Finds an account that is known from this block on. */
  *find(address: Address, anchor: BlockRef): Steps<FoundAccount | undefined> {
    const [row] = yield* findEntries([this.#options.chainId], [addressBytes(address)])
    if (row?.body === undefined) return row && (yield* this.#forget(row.id))
    const account = decodeAccount(row.body)
    // Else what was kept is older than another block.
    const isSame = account.anchor.number === anchor.number && account.anchor.hash === anchor.hash
    return isSame ? { ...account, id: row.id, usedAtMs: row.usedAtMs } : undefined
  }

  *remove(address: Address): Steps<void> {
    const [row] = yield* findEntries([this.#options.chainId], [addressBytes(address)])
    if (row !== undefined) yield* removeEntry(row.id)
  }

  /** Adds a stretch that touches what is known; what lies above is left out. */
  *save(address: Address, anchor: BlockRef, stretch: DeepStretch): Steps<void> {
    const known = yield* this.find(address, anchor)
    let account: Account = known ?? unknownAccount(anchor)
    if (known === undefined) yield* this.remove(address)
    const id = known?.id ?? (yield* this.#put(address, account))
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
          : [encodeCandidates(stretch.candidates ?? []), Buffer.alloc(0)]
      yield* ask(
        `INSERT INTO cache.part (account, list, low, above, sum, marks, body) VALUES ($1, $2, $3, $4, $5, $6, $7)`,
        ...[id, lists[list], low, above, this.#sumOfPart(id, lists[list], { low, above, body }), marks, body]
      )
      const gaps = list === 'records' ? [...account.gaps, ...(stretch.gaps ?? [])] : account.gaps
      const weight = account.weight + body.length + marks.length + overheadBytes
      account = { anchor, from: { ...account.from, [list]: low }, gaps, weight }
    }
    yield* this.#put(address, account)
    yield* evict(this.#options.chainId, this.#options.bound, id)
  }

  *knownOf(address: Address, anchor: BlockRef): Steps<Account> {
    const found = yield* this.find(address, anchor)
    if (found === undefined) return unknownAccount(anchor)
    const { now } = this.#options
    if (Math.abs(now() - found.usedAtMs) > useGrainMs) yield* touchEntry(found.id, now())
    return found
  }

  *readRecords(address: Address, account: FoundAccount, belowId: number): Steps<readonly DeepRecord[]> {
    for (let highest = toPosition(belowId - 1).blockNumber; ; ) {
      const parts = yield* this.#read('records', address, account, highest, partsAtOnce)
      const found = parts.flatMap(({ body }) => decodeRecords(body)).filter(({ id }) => id < belowId)
      if (found.length > 0 || parts.length < partsAtOnce) return found
      highest = (parts.at(-1)?.low ?? 0) - 1
    }
  }

  *candidatesOf(address: Address, anchor: BlockRef): Steps<readonly HoldingCandidate[]> {
    const account = yield* this.find(address, anchor)
    if (account === undefined) return []
    const parts = yield* this.#read('candidates', address, account, anchor.number, 2 ** 31)
    const all = parts.flatMap(({ body }) => decodeCandidates(address, body))
    return [...new Map(all.map(each => [Object.values(each).join(), each])).values()]
  }

  *lookUp(address: Address, hash: Hash, anchor: BlockRef): Steps<number | undefined> {
    const account = yield* this.find(address, anchor)
    if (account === undefined) return undefined
    const marked = yield* ask<{ low: number; marks: Uint8Array }>(
      `SELECT low, marks FROM cache.part WHERE account = $1 AND list = ${lists.records}`,
      account.id
    )
    for (const { low, marks } of marked) {
      if (!hasMark(marks, hashBytes(hash))) continue
      const parts = yield* this.#read('records', address, account, low, 1)
      const records = parts.flatMap(({ body }) => decodeRecords(body))
      const found = records.find(({ bytes }) => hexAt(bytes, hashOffset, hashLength) === hash)
      if (found !== undefined) return found.id
    }
    return undefined
  }

  /**
   * Reads parts of a list, from a block down.
   * @throws {StoreUnavailableError} the account has left since it was found, or a part of it is not what was written.
   */
  *#read(
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
    if ((yield* this.find(address, anchor))?.id !== id) throw hasLeft()
    let reached = top + 1
    const isSound = parts.every((each, at) => {
      const isNext = at === 0 ? each.above >= reached : each.above === reached
      reached = each.low
      return isNext && each.sum === this.#sumOfPart(id, lists[list], each)
    })
    if (isSound && (parts.length === limit || reached <= account.from[list])) return parts
    yield* this.#forget(id)
    throw hasLeft()
  }

  /** Removes an account of which something is not what was written. */
  *#forget(id: number): Steps<undefined> {
    this.#options.onDamage?.()
    yield* removeEntry(id)
    return undefined
  }

  *#put(address: Address, account: Account): Steps<number> {
    const { chainId, now } = this.#options
    const weight = overheadBytes + account.weight
    return yield* putEntry(chainId, addressBytes(address), encodeAccount(account), weight, now())
  }

  #sumOfPart(account: number, list: number, { low, above, body }: Omit<PartRow, 'sum'>): number {
    return sumOfRow(this.#options.chainId, 'part', { account, list, low, above, body })
  }
}

function unknownAccount(anchor: BlockRef): Account {
  return { anchor, from: { records: anchor.number, candidates: anchor.number }, gaps: [], weight: 0 }
}

/** Error of a reader whose account was evicted meanwhile; the next call reads it from the nodes again. */
export function hasLeft(): StoreUnavailableError {
  return new StoreUnavailableError('what was kept of an account below the index has left while it was read')
}
