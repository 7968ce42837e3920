import type { DeepStretch } from '../../../model/deepHistory.ts'
import type { Address, BlockRef } from '../../../model/evm.ts'
import { emptyWeight, encodeHeld, sweptAtOnce, weighStretch } from '../../deepHistory/deepRows.ts'
import { addressBytes, hashBytes } from '../../record/hexBytes.ts'
import type { ClientBase, Pool } from '../driver.ts'
import { deepSchema } from './deepMigrations.ts'

/** An account of which something is kept below the block that was asked about. */
export interface AccountRow {
  readonly id: number
  readonly records_from: number
  readonly candidates_from: number
  readonly used_at: number
}

/** The account of a chain, and the first block of the index that it lies below. */
export interface AccountKey {
  readonly chainId: number
  readonly address: Address
  readonly anchor: BlockRef
}

const keyOf = ({ chainId, address, anchor }: AccountKey) => [
  chainId,
  addressBytes(address),
  anchor.number,
  hashBytes(anchor.hash)
]

export async function findAccount(
  client: Pool | ClientBase,
  key: AccountKey
): Promise<AccountRow | undefined> {
  const { rows } = await client.query<AccountRow>(
    `SELECT id, records_from, candidates_from, used_at FROM ${deepSchema}.account
     WHERE chain = $1 AND address = $2 AND anchor_number = $3 AND anchor_hash = $4`,
    keyOf(key)
  )
  return rows[0]
}

/** One writer of a chain's cache at a time, in whatever process: stretches are laid below each other. */
export async function lockCache(client: ClientBase, chainId: number): Promise<void> {
  await client.query(`SELECT pg_advisory_xact_lock(hashtextextended('${deepSchema} ${chainId}', 0))`)
}

/** Belongs into a transaction that holds the lock. @returns the account's id. */
export async function saveStretch(
  client: ClientBase,
  key: AccountKey,
  stretch: DeepStretch,
  nowMs: number
): Promise<number> {
  const { id, records_from, candidates_from } =
    (await findAccount(client, key)) ?? (await makeAccount(client, key, nowMs))
  const { from, below } = stretch
  const joins = (known: number) => below >= known && from < known
  const records = joins(records_from) ? stretch.records : undefined
  const candidates = joins(candidates_from) ? stretch.candidates : undefined
  if (records !== undefined && records.length > 0) {
    await client.query(
      `INSERT INTO ${deepSchema}.record SELECT $1, * FROM unnest($2::bigint[], $3::bytea[], $4::bytea[]) ON CONFLICT DO NOTHING`,
      [
        id,
        records.map(record => record.id),
        records.map(({ hash }) => asBuffer(hash)),
        records.map(({ bytes }) => asBuffer(bytes))
      ]
    )
  }
  if (candidates !== undefined && candidates.length > 0) {
    await client.query(
      `INSERT INTO ${deepSchema}.candidate SELECT $1, unnest($2::bytea[]) ON CONFLICT DO NOTHING`,
      [id, candidates.map(encodeHeld)]
    )
  }
  await client.query(
    `UPDATE ${deepSchema}.account SET records_from = $2, candidates_from = $3, used_at = $4, weight = weight + $5
     WHERE id = $1`,
    [
      ...[
        id,
        records === undefined ? records_from : from,
        candidates === undefined ? candidates_from : from,
        nowMs
      ],
      weighStretch({ from, below, ...(records && { records }), ...(candidates && { candidates }) })
    ]
  )
  return id
}

/** Whatever was kept of it lies below another block. */
async function makeAccount(client: ClientBase, key: AccountKey, nowMs: number): Promise<AccountRow> {
  const { number } = key.anchor
  await client.query(
    `DELETE FROM ${deepSchema}.account WHERE chain = $1 AND address = $2`,
    keyOf(key).slice(0, 2)
  )
  const { rows } = await client.query<AccountRow>(
    `INSERT INTO ${deepSchema}.account
       (chain, address, anchor_number, anchor_hash, records_from, candidates_from, used_at, weight)
     VALUES ($1, $2, $3, $4, $3, $3, $5, $6) RETURNING id, records_from, candidates_from, used_at`,
    [...keyOf(key), nowMs, emptyWeight]
  )
  const [made] = rows
  if (made === undefined) throw new Error(`an account below block ${number} that was inserted is not there`)
  return made
}

/** Lets accounts leave, those not used for longest first, until the rest fits; never the one that was just written. */
export async function evictAccounts(
  client: ClientBase,
  { chainId, keptId, bound }: { readonly chainId: number; readonly keptId: number; readonly bound: number }
): Promise<void> {
  await client.query(
    `DELETE FROM ${deepSchema}.account USING (
       SELECT id, sum(weight) OVER (ORDER BY used_at, id) - weight AS before FROM (
         SELECT id, weight, used_at FROM ${deepSchema}.account WHERE chain = $1 AND id <> $2 ORDER BY used_at, id LIMIT 64
       ) AS oldest
     ) AS leaving
     WHERE account.id = leaving.id
       AND leaving.before < (SELECT weight FROM ${deepSchema}.usage WHERE chain = $1) - $3::bigint`,
    [chainId, keptId, bound]
  )
}

/** Removes some rows of accounts that have left. */
export async function sweepDropped(client: ClientBase): Promise<void> {
  const { rows } = await client.query<{ readonly account: number }>(
    `SELECT account FROM ${deepSchema}.dropped LIMIT 1 FOR UPDATE SKIP LOCKED`
  )
  const [dropped] = rows
  if (dropped === undefined) return
  const removed = await Promise.all(
    ['record', 'candidate'].map(async table => {
      const { rowCount } = await client.query(
        `DELETE FROM ${deepSchema}.${table} WHERE ctid = ANY(ARRAY(
           SELECT ctid FROM ${deepSchema}.${table} WHERE account = $1 LIMIT $2))`,
        [dropped.account, sweptAtOnce]
      )
      return rowCount
    })
  )
  if (removed.every(count => count === 0)) {
    await client.query(`DELETE FROM ${deepSchema}.dropped WHERE account = $1`, [dropped.account])
  }
}

function asBuffer({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength)
}
