import { crc32 } from 'node:zlib'
import type { DeepGap, DeepHistoryCache, DeepStretch } from '../model/deepHistory.ts'
import type { Address, BlockRef, Hash, HoldingCandidate } from '../model/evm.ts'
import { StoreError, StoreUnavailableError } from '../platform/errors.ts'
import { addressBytes, hashBytes } from '../record/hexBytes.ts'
import { standardNumber, standardOf, tokenIdsKey, tokenIdsOf } from '../record/tokenKey.ts'
import { sumOfRow } from '../store/rowSums.ts'
import { ask, type CacheDatabase, type CacheValue, type Steps } from './cacheDatabase.ts'

const chunkRecords = 256
/** Rows of accounts that have left which one save removes, of each table. */
const sweptRows = 2_000
const evictedAccounts = 64
/** Approximate bytes of an account, a record and a candidate besides their values, index entries included. */
const accountOverheadBytes = 200
const recordOverheadBytes = 120
const candidateOverheadBytes = 40
/** A use is stored only if the last one is older: reading must not become writing. */
const useGrainMs = 60_000

const addressLength = 20

interface AccountRow {
  readonly id: number
  readonly records_from: number
  readonly candidates_from: number
  /** The gaps of its records, as `gapBits` has them. */
  readonly from_state: number
  readonly used_at: number
  /** Lowest transaction that is known; null: none. */
  readonly oldest_tx: number | null
  /** Of all candidates. */
  readonly held_sum: number
  readonly sum: number | null
}

interface RecordRow {
  readonly tx: number
  readonly hash: Uint8Array
  readonly rec: Uint8Array
  readonly sum: number | null
}

export interface DeepHistoryCacheOptions {
  /** Approximate maximum of bytes; one account may have more. */
  readonly bound: number
  /** `Date.now`, replaced in tests. */
  readonly now: () => number
  /** Chain of the cache, where the tables hold several; absent: they hold one. */
  readonly chainId?: number
  /** Called for what differs from its checksums: its account counts as unknown, and is read from the nodes again. */
  onDamage?(): void
}

/** Creates the cache of what is older than one chain's index, over the tables of an engine's `cacheDatabase.ts`. */
export function createDeepHistoryCache(
  database: CacheDatabase,
  { bound, now, chainId, onDamage }: DeepHistoryCacheOptions
): DeepHistoryCache {
  const [account, record, candidate, dropped, usage] = [
    'account',
    'record',
    'candidate',
    'dropped',
    'usage'
  ].map(table => database.prefix + table)
  const ofChain = chainId === undefined ? '' : `chain = ${chainId} AND`
  const keyOf = (address: Address, anchor: BlockRef) =>
    [addressBytes(address), anchor.number, hashBytes(anchor.hash)] as const

  const columns = 'id, records_from, candidates_from, from_state, used_at, oldest_tx, held_sum, sum'

  /** Of what is known of an account; not of when it was used. */
  function sumOfAccount(
    address: Address,
    anchor: BlockRef,
    row: Omit<AccountRow, 'sum' | 'used_at'>
  ): number {
    const { id, records_from, candidates_from, from_state, oldest_tx, held_sum } = row
    const [key, number, hash] = keyOf(address, anchor)
    const known = { id, records_from, candidates_from, from_state, oldest_tx, held_sum }
    return sumOfRow(chainId ?? 0, 'account', { key, number, hash, ...known })
  }

  /** @param newer - the next newer record of the account; null: it is the newest. */
  function sumOfRecord(id: number, { tx, hash, rec }: Omit<RecordRow, 'sum'>, newer: number | null): number {
    return sumOfRow(chainId ?? 0, 'record', { id, tx, hash, rec, newer })
  }

  function* find(address: Address, anchor: BlockRef): Steps<AccountRow | undefined> {
    const [row] = yield* ask<AccountRow>(
      `SELECT ${columns} FROM ${account}
       WHERE ${ofChain} address = $1 AND anchor_number = $2 AND anchor_hash = $3`,
      ...keyOf(address, anchor)
    )
    if (row === undefined || row.sum === sumOfAccount(address, anchor, row)) return row
    yield* forget(row.id)
    return undefined
  }

  /** Removes an account of which something is not what was written. */
  function* forget(id: number): Steps<void> {
    onDamage?.()
    yield* ask(`DELETE FROM ${account} WHERE id = $1`, id)
  }

  function* remove(address: Address): Steps<void> {
    yield* ask(`DELETE FROM ${account} WHERE ${ofChain} address = $1`, addressBytes(address))
  }

  function* make(address: Address, anchor: BlockRef): Steps<AccountRow> {
    // What was kept of it is older than another block.
    yield* remove(address)
    const [chainColumn, values] = chainId === undefined ? ['', ''] : ['chain, ', `${chainId}, `]
    const [made] = yield* ask<AccountRow>(
      `INSERT INTO ${account}
         (${chainColumn}address, anchor_number, anchor_hash, records_from, candidates_from, used_at, weight)
       VALUES (${values}$1, $2, $3, $2, $2, $4, $5) RETURNING ${columns}`,
      ...keyOf(address, anchor),
      now(),
      accountOverheadBytes
    )
    if (made === undefined) throw new Error(`an account older than block ${anchor.number} was not inserted`)
    return made
  }

  /** @returns the values of `returned` of the rows that were not there yet. */
  function* insert<Row extends object>(
    table: string,
    rows: readonly (readonly CacheValue[])[],
    returned: keyof Row & string
  ): Steps<readonly Row[]> {
    const inserted: Row[] = []
    for (let from = 0; from < rows.length; from += database.maxRows) {
      const some = rows.slice(from, from + database.maxRows)
      let n = 0
      const tuples = some.map(values => `(${values.map(() => `$${++n}`).join(', ')})`)
      const text = `INSERT INTO ${table} VALUES ${tuples.join(', ')} ON CONFLICT DO NOTHING RETURNING ${returned}`
      inserted.push(...(yield* ask<Row>(text, ...some.flat())))
    }
    return inserted
  }

  function* save(address: Address, anchor: BlockRef, stretch: DeepStretch): Steps<void> {
    const known = (yield* find(address, anchor)) ?? (yield* make(address, anchor))
    const { id, records_from, candidates_from } = known
    const { from, below } = stretch
    const joins = (knownFrom: number) => below >= knownFrom && from < knownFrom
    const records = joins(records_from) ? stretch.records : undefined
    const candidates = joins(candidates_from) ? stretch.candidates : undefined
    let newest = known.oldest_tx
    // What lies above is stored already.
    const older = (records ?? [])
      .filter(({ id: tx }) => newest === null || tx < newest)
      .sort((a, b) => b.id - a.id)
      .map(({ id: tx, hash, bytes: rec }) => {
        const sum = sumOfRecord(id, { tx, hash, rec }, newest)
        newest = tx
        return [id, tx, hash, rec, sum]
      })
    yield* insert<RecordRow>(`${record} (account, tx, hash, rec, sum)`, older, 'tx')
    const held = yield* insert<{ held: Uint8Array }>(
      `${candidate} (account, held)`,
      (candidates ?? []).map(each => [id, encodeHeld(each)]),
      'held'
    )
    const after = {
      id,
      records_from: records === undefined ? records_from : from,
      candidates_from: candidates === undefined ? candidates_from : from,
      from_state: known.from_state | (records === undefined ? 0 : bitsOf(stretch.gaps ?? [])),
      oldest_tx: newest,
      held_sum: (known.held_sum + sumOfHeld(held)) % 2 ** 32
    }
    yield* ask(
      `UPDATE ${account} SET records_from = $2, candidates_from = $3, used_at = $4, weight = weight + $5,
         from_state = $6, oldest_tx = $7, held_sum = $8, sum = $9 WHERE id = $1`,
      ...[id, after.records_from, after.candidates_from, now(), weigh(records ?? [], candidates ?? [])],
      ...[after.from_state, after.oldest_tx, after.held_sum, sumOfAccount(address, anchor, after)]
    )
    yield* evict(id)
    yield* sweep()
  }

  /** Removes accounts, least recently used first, until the others fit; never the one that was just written. */
  function* evict(keptId: number): Steps<void> {
    yield* ask(
      `DELETE FROM ${account} WHERE id IN (
         SELECT id FROM (
           SELECT id, sum(weight) OVER (ORDER BY used_at, id) - weight AS ahead FROM (
             SELECT id, weight, used_at FROM ${account} WHERE ${ofChain} id <> $1
             ORDER BY used_at, id LIMIT ${evictedAccounts}
           ) AS oldest
         ) AS leaving
         WHERE ahead < (SELECT weight FROM ${usage} WHERE ${ofChain} true) - $2
       )`,
      keptId,
      bound
    )
  }

  /** Removes some rows of one account that has left. */
  function* sweep(): Steps<void> {
    const [gone] = yield* ask<{ account: number }>(
      `SELECT account FROM ${dropped} LIMIT 1 ${database.skipLocked}`
    )
    if (gone === undefined) return
    let removed = 0
    for (const [table, key] of [
      [record, 'tx'],
      [candidate, 'held']
    ]) {
      const rows = yield* ask(
        `DELETE FROM ${table} WHERE account = $1
           AND ${key} IN (SELECT ${key} FROM ${table} WHERE account = $1 LIMIT ${sweptRows}) RETURNING account`,
        gone.account
      )
      removed += rows.length
    }
    if (removed === 0) yield* ask(`DELETE FROM ${dropped} WHERE account = $1`, gone.account)
  }

  function* known(address: Address, anchor: BlockRef) {
    const row = yield* find(address, anchor)
    if (row === undefined) return { recordsFrom: anchor.number, candidatesFrom: anchor.number, gaps: [] }
    const nowMs = now()
    if (Math.abs(nowMs - row.used_at) > useGrainMs) {
      yield* ask(`UPDATE ${account} SET used_at = $1 WHERE id = $2`, nowMs, row.id)
    }
    return {
      recordsFrom: row.records_from,
      candidatesFrom: row.candidates_from,
      gaps: gapsIn(row.from_state)
    }
  }

  /** @param before - the account as it was before. */
  function* readChunk(address: Address, anchor: BlockRef, before: AccountRow, below: number, limit: number) {
    const { id, oldest_tx } = before
    const rows = yield* ask<RecordRow>(
      `SELECT tx, hash, rec, sum FROM ${record} WHERE account = $1 AND tx < $2 ORDER BY tx DESC LIMIT $3`,
      ...[id, below, limit]
    )
    const [above] = yield* ask<{ tx: number | null }>(
      `SELECT min(tx) AS tx FROM ${record} WHERE account = $1 AND tx >= $2`,
      ...[id, below]
    )
    // Still there afterwards, so it was there with all its records before.
    if ((yield* find(address, anchor))?.id !== id) throw hasLeft()
    let newer = above?.tx ?? null
    const isSound = rows.every(row => {
      const isWritten = row.sum === sumOfRecord(id, row, newer)
      newer = row.tx
      return isWritten
    })
    const reached = rows.at(-1)?.tx ?? below
    const isWhole = rows.length === limit || oldest_tx === null || reached <= oldest_tx
    if (isSound && isWhole) return rows
    yield* forget(id)
    throw hasLeft()
  }

  function* candidates(address: Address, anchor: BlockRef): Steps<readonly HoldingCandidate[]> {
    const row = yield* find(address, anchor)
    if (row === undefined) return []
    const held = yield* ask<{ held: Uint8Array }>(`SELECT held FROM ${candidate} WHERE account = $1`, row.id)
    if (sumOfHeld(held) !== row.held_sum) {
      const after = yield* find(address, anchor)
      // Unless another server has added some meanwhile.
      if (after?.id === row.id && after.held_sum === row.held_sum) yield* forget(row.id)
      throw hasLeft()
    }
    return held.map(each => decodeHeld(address, each.held))
  }

  function* lookUp(hash: Hash, anchor: BlockRef): Steps<number | undefined> {
    const [found] = yield* ask<RecordRow & { account: number; newer: number | null }>(
      `SELECT r.account, r.tx, r.hash, r.rec, r.sum,
         (SELECT min(n.tx) FROM ${record} n WHERE n.account = r.account AND n.tx > r.tx) AS newer
       FROM ${record} r JOIN ${account} AS a ON a.id = r.account
       WHERE r.hash = $1 AND ${ofChain} a.anchor_number = $2 AND a.anchor_hash = $3 LIMIT 1`,
      ...[hashBytes(hash), anchor.number, hashBytes(anchor.hash)]
    )
    if (found === undefined || found.sum === sumOfRecord(found.account, found, found.newer)) return found?.tx
    yield* forget(found.account)
    return undefined
  }

  return {
    known: (address, anchor) => database.run(known(address, anchor)),
    async *records(address, anchor, { belowId, limit = Number.POSITIVE_INFINITY }) {
      const found = await database.run(find(address, anchor))
      if (found === undefined) return
      let below = belowId
      for (let left = limit; left > 0; ) {
        const wanted = Math.min(left, chunkRecords)
        const rows = await database.run(readChunk(address, anchor, found, below, wanted))
        const last = rows.at(-1)
        if (last === undefined) return
        yield { ids: rows.map(({ tx }) => tx), bytes: Buffer.concat(rows.map(({ rec }) => rec)) }
        below = last.tx
        left -= rows.length
      }
    },
    candidates: (address, anchor) => database.run(candidates(address, anchor)),
    lookUpHash: (hash, anchor) => database.run(lookUp(hash, anchor)),
    save: (address, anchor, stretch) => database.transaction(String(chainId), save(address, anchor, stretch)),
    forget: address => database.run(remove(address)),
    close: () => database.close()
  }
}

/** Bits of the gaps in a stored number. */
const gapBits: readonly (readonly [DeepGap, number])[] = [
  ['zero-value-receipts', 1],
  ['authorities', 2],
  ['payments-passed-on', 4]
]

function bitsOf(gaps: readonly DeepGap[]): number {
  return gapBits.reduce((bits, [gap, bit]) => (gaps.includes(gap) ? bits | bit : bits), 0)
}

function gapsIn(bits: number): readonly DeepGap[] {
  return gapBits.filter(([, bit]) => (bits & bit) !== 0).map(([gap]) => gap)
}

/** A candidate without its owner: contract (20 bytes), standard (1), key of the token ids. */
function encodeHeld(candidate: HoldingCandidate): Buffer {
  const { contract, standard } = candidate
  return Buffer.concat([
    addressBytes(contract),
    Buffer.from([standardNumber(standard)]),
    tokenIdsKey(candidate)
  ])
}

function sumOfHeld(rows: readonly { readonly held: Uint8Array }[]): number {
  return rows.reduce((sum, { held }) => (sum + crc32(held)) % 2 ** 32, 0)
}

/** @throws {StoreError} the bytes are damaged. */
function decodeHeld(owner: Address, bytes: Uint8Array): HoldingCandidate {
  const number = bytes[addressLength]
  if (number === undefined) throw new StoreError('a stored candidate is damaged: it ends too early')
  return {
    owner,
    contract: `0x${Buffer.from(bytes.subarray(0, addressLength)).toString('hex')}`,
    standard: standardOf(number),
    ...tokenIdsOf(bytes.subarray(addressLength + 1))
  }
}

function weigh(records: NonNullable<DeepStretch['records']>, candidates: readonly HoldingCandidate[]) {
  const recordBytes = records.reduce((sum, { bytes }) => sum + bytes.length + recordOverheadBytes, 0)
  return recordBytes + candidates.length * candidateOverheadBytes
}

/** Error of a reader whose account was evicted meanwhile; the next call reads it from the nodes again. */
export function hasLeft(): StoreUnavailableError {
  return new StoreUnavailableError('what was kept of an account below the index has left while it was read')
}
