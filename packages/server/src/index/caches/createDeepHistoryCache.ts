import type { DeepHistoryCache, DeepStretch } from '../../model/deepHistory.ts'
import type { Address, BlockRef, HoldingCandidate } from '../../model/evm.ts'
import { chunk } from '../../platform/concurrency/permits.ts'
import { StoreError, StoreUnavailableError } from '../../platform/errors.ts'
import { addressBytes, hashBytes } from '../record/hexBytes.ts'
import { standardNumber, standardOf, tokenIdsKey, tokenIdsOf } from '../record/tokenKey.ts'
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
  readonly from_state: number
  readonly used_at: number
}

export interface DeepHistoryCacheOptions {
  /** Approximate maximum of bytes; one account may have more. */
  readonly bound: number
  /** `Date.now`, replaced in tests. */
  readonly now: () => number
  /** Chain of the cache, where the tables hold several; absent: they hold one. */
  readonly chainId?: number
}

/** Creates the cache of what is older than one chain's index, over the tables of an engine's `cacheDatabase.ts`. */
export function createDeepHistoryCache(
  database: CacheDatabase,
  { bound, now, chainId }: DeepHistoryCacheOptions
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

  function* find(address: Address, anchor: BlockRef): Steps<AccountRow | undefined> {
    const [row] = yield* ask<AccountRow>(
      `SELECT id, records_from, candidates_from, from_state, used_at FROM ${account}
       WHERE ${ofChain} address = $1 AND anchor_number = $2 AND anchor_hash = $3`,
      ...keyOf(address, anchor)
    )
    return row
  }

  function* make(address: Address, anchor: BlockRef): Steps<AccountRow> {
    // What was kept of it is older than another block.
    yield* ask(`DELETE FROM ${account} WHERE ${ofChain} address = $1`, addressBytes(address))
    const [columns, values] = chainId === undefined ? ['', ''] : ['chain, ', `${chainId}, `]
    const [made] = yield* ask<AccountRow>(
      `INSERT INTO ${account}
         (${columns}address, anchor_number, anchor_hash, records_from, candidates_from, used_at, weight)
       VALUES (${values}$1, $2, $3, $2, $2, $4, $5) RETURNING id, records_from, candidates_from, from_state, used_at`,
      ...keyOf(address, anchor),
      now(),
      accountOverheadBytes
    )
    if (made === undefined) throw new Error(`an account older than block ${anchor.number} was not inserted`)
    return made
  }

  function* insert(table: string, rows: readonly (readonly CacheValue[])[]): Steps<void> {
    for (const some of chunk(rows, database.maxRows)) {
      let n = 0
      const tuples = some.map(values => `(${values.map(() => `$${++n}`).join(', ')})`)
      yield* ask(`INSERT INTO ${table} VALUES ${tuples.join(', ')} ON CONFLICT DO NOTHING`, ...some.flat())
    }
  }

  function* save(address: Address, anchor: BlockRef, stretch: DeepStretch): Steps<void> {
    const { id, records_from, candidates_from, from_state } =
      (yield* find(address, anchor)) ?? (yield* make(address, anchor))
    const { from, below } = stretch
    const joins = (known: number) => below >= known && from < known
    const records = joins(records_from) ? stretch.records : undefined
    const candidates = joins(candidates_from) ? stretch.candidates : undefined
    yield* insert(
      `${record} (account, tx, hash, rec)`,
      (records ?? []).map(({ id: tx, hash, bytes }) => [id, tx, hash, bytes])
    )
    yield* insert(
      `${candidate} (account, held)`,
      (candidates ?? []).map(each => [id, encodeHeld(each)])
    )
    yield* ask(
      `UPDATE ${account}
       SET records_from = $2, candidates_from = $3, used_at = $4, weight = weight + $5, from_state = $6 WHERE id = $1`,
      ...[id, records === undefined ? records_from : from, candidates === undefined ? candidates_from : from],
      ...[now(), weigh(records ?? [], candidates ?? [])],
      records !== undefined && stretch.isFromState === true ? 1 : from_state
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
    if (row === undefined) return { recordsFrom: anchor.number, candidatesFrom: anchor.number }
    const nowMs = now()
    if (Math.abs(nowMs - row.used_at) > useGrainMs) {
      yield* ask(`UPDATE ${account} SET used_at = $1 WHERE id = $2`, nowMs, row.id)
    }
    return {
      recordsFrom: row.records_from,
      candidatesFrom: row.candidates_from,
      ...(row.from_state !== 0 && { isFromState: true as const })
    }
  }

  function* readChunk(address: Address, anchor: BlockRef, id: number, below: number, limit: number) {
    const rows = yield* ask<{ tx: number; rec: Uint8Array }>(
      `SELECT tx, rec FROM ${record} WHERE account = $1 AND tx < $2 ORDER BY tx DESC LIMIT $3`,
      ...[id, below, limit]
    )
    // Still there afterwards, so it was there with all its records before.
    if ((yield* find(address, anchor))?.id !== id) throw hasLeft()
    return rows
  }

  function* candidates(address: Address, anchor: BlockRef): Steps<readonly HoldingCandidate[]> {
    const row = yield* find(address, anchor)
    if (row === undefined) return []
    const held = yield* ask<{ held: Uint8Array }>(`SELECT held FROM ${candidate} WHERE account = $1`, row.id)
    return held.map(each => decodeHeld(address, each.held))
  }

  return {
    known: (address, anchor) => database.run(known(address, anchor)),
    async *records(address, anchor, { belowId, limit = Number.POSITIVE_INFINITY }) {
      const id = (await database.run(find(address, anchor)))?.id
      if (id === undefined) return
      let below = belowId
      for (let left = limit; left > 0; ) {
        const wanted = Math.min(left, chunkRecords)
        const rows = await database.run(readChunk(address, anchor, id, below, wanted))
        const last = rows.at(-1)
        if (last === undefined) return
        yield { ids: rows.map(({ tx }) => tx), bytes: Buffer.concat(rows.map(({ rec }) => rec)) }
        below = last.tx
        left -= rows.length
      }
    },
    candidates: (address, anchor) => database.run(candidates(address, anchor)),
    async lookUpHash(hash, anchor) {
      const [found] = await database.run(
        ask<{ tx: number }>(
          `SELECT tx FROM ${record} JOIN ${account} AS a ON a.id = account
           WHERE hash = $1 AND ${ofChain} anchor_number = $2 AND anchor_hash = $3 LIMIT 1`,
          ...[hashBytes(hash), anchor.number, hashBytes(anchor.hash)]
        )
      )
      return found?.tx
    },
    save: (address, anchor, stretch) => database.transaction(String(chainId), save(address, anchor, stretch)),
    close: () => database.close()
  }
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
