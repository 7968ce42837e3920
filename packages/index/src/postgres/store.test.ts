import { describe } from 'vitest'
import { describeAudit } from '../../test/audit.contract.ts'
import { describeBlocks } from '../../test/blocks.contract.ts'
import { describeDamage } from '../../test/damage.contract.ts'
import { dumpPostgresStore } from '../../test/dumpPostgresStore.ts'
import { describeHoldings } from '../../test/holdings.contract.ts'
import { openOwnPostgresReader } from '../../test/openOwnPostgresReader.ts'
import { describeReorgs } from '../../test/reorgs.contract.ts'
import {
  type DamageableStore,
  describeStore,
  type OpenStore,
  shareOfRuns,
  testIdentity
} from '../../test/store.contract.ts'
import { createTestDatabase } from '../../test/support/startPostgres.ts'
import { toTransactionId } from '../record/transactionId.ts'
import type { Chunk } from '../runs/chunk.ts'
import type { Row } from '../runs/Transaction.ts'
import { connect } from './driver.ts'
import { openPostgresWriter, type PostgresWriterOptions } from './openWriter.ts'
import { chainSchema } from './schema.ts'

const schema = chainSchema(testIdentity.chainId)
/** Databases whose store was disposed of: making one takes longer than emptying one. */
const emptied: string[] = []

function openStoreWith(merging: PostgresWriterOptions = {}): OpenStore<DamageableStore> {
  return async (layout = {}) => {
    const url = emptied.pop() ?? (await createTestDatabase())
    const opened: { close(): Promise<void> }[] = []
    const kept = <T extends { close(): Promise<void> }>(made: T): T => {
      opened.push(made)
      return made
    }
    const options = { lockWaitMs: 0, mergeAfterMs: null, ...merging, ...layout }
    let isDisposed = false
    return {
      ...openByHand(url),
      openWriter: async (identity = testIdentity) => kept(await openPostgresWriter(url, identity, options)),
      openReader: async () => kept(await openOwnPostgresReader([url], testIdentity.chainId)),
      dump: async () => (await dumpPostgresStore(url, testIdentity.chainId)).text,
      dispose: async () => {
        if (isDisposed) return
        isDisposed = true
        for (const each of opened) await each.close()
        const client = await connect(url, 'check')
        await client.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`)
        await client.end()
        emptied.push(url)
      }
    }
  }
}

/** Reads and changes the index past its writer. */
function openByHand(
  url: string
): Pick<DamageableStore, 'run' | 'chunks' | 'loseRow' | 'loseChunk' | 'putChunk'> {
  const ask = async <R extends object>(text: string, values: readonly unknown[] = []) => {
    const client = await connect(url, 'check')
    try {
      await client.query(`SET search_path = ${schema}`)
      return (await client.query<R>(text, [...values])).rows
    } finally {
      await client.end()
    }
  }
  const byPosition = 'run = $1 AND section = $2 AND number = $3'
  return {
    run(text, values) {
      let position = 0
      return ask<Row>(
        text.replace(/\?/g, () => `$${++position}`),
        values
      )
    },
    chunks: () =>
      ask<Chunk>('SELECT run, section, number, lower, bytes FROM chunk ORDER BY run, section, number'),
    async loseRow(row) {
      const [where, key] =
        row.table === 'block' ? ['number = $1', row.number] : ['id = $1', toTransactionId(row.position)]
      const [lost, another] = await ask<Record<string, unknown>>(
        `DELETE FROM ${row.table} WHERE ${where} RETURNING *`,
        [key]
      )
      if (lost === undefined || another !== undefined)
        throw new Error(`there is no row ${JSON.stringify(row)}`)
      const values = Object.values(lost)
      const places = values.map((_, i) => `$${i + 1}`)
      return async () => void (await ask(`INSERT INTO ${row.table} VALUES (${places})`, values))
    },
    async loseChunk({ run, section, number }) {
      await ask(`DELETE FROM chunk WHERE ${byPosition}`, [run, section, number])
    },
    async putChunk({ run, section, number, lower, bytes }) {
      await ask(`DELETE FROM chunk WHERE ${byPosition}`, [run, section, number])
      await ask('INSERT INTO chunk (run, section, number, lower, bytes) VALUES ($1, $2, $3, $4, $5)', [
        ...[run, section, number, lower, bytes]
      ])
    }
  }
}

describeStore('postgres', openStoreWith(), 1 / 4)

// Every commit merges what it can, in pieces so small that most merges are never complete.
describe('store postgres while runs are merged all the time', () => {
  const open = openStoreWith({ maxRuns: 0, mergeFactor: 2, unmergedBlocks: 0, pieceRows: 3 })
  const share = shareOfRuns(1 / 4)
  describe('blocks and history', () => describeBlocks(open, share))
  describe('reorgs', () => describeReorgs(open, share))
  describe('audit', () => describeAudit(open))
  // SQLite does the same with each change: what meets damage is the same code.
  if (process.env.CHAOS === 'full') describe('damage', () => describeDamage(open, share))
  describe('holding candidates', () => describeHoldings(open, share))
})
