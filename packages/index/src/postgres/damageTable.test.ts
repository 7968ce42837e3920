import { afterEach, beforeAll, expect, test } from 'vitest'
import { buildChain, hashOf, people, poolTransaction } from '../../test/buildChain.ts'
import { commitChain } from '../../test/commitChain.ts'
import { readChanges } from '../../test/foldChanges.ts'
import { openOwnPostgresReader } from '../../test/openOwnPostgresReader.ts'
import { gather, readHistory, withSnapshot } from '../../test/readAll.ts'
import { testIdentity } from '../../test/store.contract.ts'
import { createTestDatabase, queryOnce } from '../../test/support/startPostgres.ts'
import type { Address } from '../model/evm.ts'
import type { MissingPart } from '../port/audit.ts'
import type { Snapshot, StoreReader } from '../port/store.ts'
import { openPostgresWriter } from './openWriter.ts'
import { chainSchema } from './schema.ts'

/*
 * Shows for each table what finds a row that is lost, altered or exchanged past the writer: reads, what certificates are made
 * of, and the check in the background. docs/damage.md has the same in words.
 */

const schema = chainSchema(testIdentity.chainId)
const [, , , ann = '0x', bob = '0x', , , cleo = '0x'] = people
const accounts = [ann, cleo]
const hashes = ['even 12', 'gone', 'nowhere'].map(hashOf)
const candidate = { owner: cleo, contract: bob, standard: 'erc20' } as const
const blocks = buildChain(
  Array.from({ length: 24 }, (_, n) => [
    {
      name: `${n % 2 ? 'odd' : 'even'} ${n}`,
      parties: n % 2 ? [ann, bob] : [cleo, bob],
      candidates: [candidate]
    },
    { name: `other ${n}`, parties: [ann, bob] }
  ])
)
const head = blocks.at(-1)!.ref
const removed = buildChain([[{ name: 'gone', parties: [ann, cleo] }]], { parent: head, fork: 'b' })
const present = [poolTransaction('one', [ann, bob]), poolTransaction('two', [bob, cleo])]

const key = (address: Address) => `'\\x${address.slice(2)}'::bytea`
const id = (block: number, index = 0) => block * 65_536 + index
/** The row of the address index by which a transaction of cleo's is found. */
const row = `tx_id = ${id(12)} AND address = ${key(cleo)}`
const bucket = Number(cleo.slice(0, 6))
const wholePartition = `bucket = ${bucket} AND partition = (SELECT min(partition) FROM directory)`

let url: string
let truth: Answers

beforeAll(async () => {
  url = await createTestDatabase()
  const writer = await openPostgresWriter(url, testIdentity, { smallestPartition: 8, largestPartition: 8 })
  for (let n = 0; n < blocks.length; n += 4) await commitChain(writer, blocks.slice(n, n + 4))
  await commitChain(writer, removed)
  await writer.rollbackTo(head)
  await writer.updatePool({
    present: [...present, poolTransaction('three', [ann, bob])],
    seenAtSeconds: 5,
    headAfter: 23
  })
  await writer.updatePool({ present, seenAtSeconds: 6, headAfter: 23 })
  await writer.report({ phase: 'following', head: 23, poolCovered: true })
  await writer.close()
  const tables = await queryOnce(
    url,
    `SELECT relname FROM pg_class WHERE relnamespace = '${schema}'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition`
  )
  const kept = tables.map(({ relname }) => `CREATE TABLE kept.${relname} AS TABLE ${schema}.${relname}`)
  await queryOnce(url, ['CREATE SCHEMA kept', ...kept].join(';'))
  truth = await read()
  expect([...truth.values()]).not.toContain(undefined)
})
afterEach(async () => {
  const tables = await queryOnce(
    url,
    `SELECT relname FROM pg_class WHERE relnamespace = 'kept'::regnamespace`
  )
  const back = tables.flatMap(({ relname }) => [
    `DELETE FROM ${schema}.${relname}`,
    `INSERT INTO ${schema}.${relname} SELECT * FROM kept.${relname}`
  ])
  await byHand(back.join(';'))
})

const toText = (value: unknown) =>
  JSON.stringify(value, (_, each: unknown) => (typeof each === 'bigint' ? `${each}n` : each))

/** A damaged disk asks no trigger. */
const byHand = (sql: string) =>
  queryOnce(url, `SET session_replication_role = replica; SET search_path = ${schema}; ${sql}`)

/** What is asked of an index; undefined: it refused. */
type Answers = ReadonlyMap<string, string | undefined>

async function read(): Promise<Answers> {
  const answers = new Map<string, string | undefined>()
  const reader = await openOwnPostgresReader([url], testIdentity.chainId).catch(() => undefined)
  const ask = async (question: string, answer: (snapshot: Snapshot) => Promise<unknown>) => {
    const given = withSnapshot(reader as StoreReader, async snapshot => {
      // A server answers nothing from an index that it takes for empty.
      if ((await snapshot.indexedRange()) === undefined) throw new Error('there is no index')
      return toText(await answer(snapshot))
    })
    answers.set(question, await given.catch(() => undefined))
  }
  for (const address of accounts) {
    await ask(`history ${address}`, each => readHistory(each, address))
    await ask(`pending ${address}`, each => each.pending(address))
    await ask(`candidates ${address}`, each => gather(each.holdingCandidates(address)))
    await ask(`certificate ${address}`, each => audit(each, address))
  }
  for (const hash of hashes) await ask(`hash ${hash}`, each => each.lookUpHash(hash))
  await ask('block', each => each.storedBlock(12))
  await ask('report', each => each.writerReport())
  await ask('changes', async each => readChanges(each, (await each.changeBounds()).oldest))
  await ask('check of blocks', each => each.findDamage(0, 23))
  await ask('check of rows', each => each.findRowDamage(0, 4_096))
  await reader?.close()
  return answers
}

/** What a certificate learns from the index alone. That events are lost, it learns from the chain's state. */
async function audit(snapshot: Snapshot, address: Address): Promise<unknown> {
  const missing: MissingPart[] = []
  for await (const chunk of snapshot.auditedRecords(address)) missing.push(...chunk.missing)
  await gather(snapshot.accountEvents(address))
  return [missing, await snapshot.recount(address)]
}

/** Says of reads, certificates and the check in the background what they make of it. */
async function facts(sql: string): Promise<string> {
  await byHand(sql)
  const answers = await read()
  const differing = [...truth].filter(([question, answer]) => answers.get(question) !== answer)
  const isIn = (part: string) => differing.filter(([question]) => question.startsWith(part))
  const [certificates, checks] = [isIn('certificate'), isIn('check')]
  const reads = differing.filter(each => !certificates.includes(each) && !checks.includes(each))
  const isWrong = reads.some(([question]) => answers.get(question) !== undefined)
  return [
    isWrong ? 'wrong' : reads.length > 0 ? 'refused' : 'right',
    certificates.length > 0 ? 'not proven' : 'proven',
    checks.length > 0 ? 'found' : 'not found'
  ].join(', ')
}

test.each([
  ['meta', 'lost', 'DELETE FROM meta', 'refused, not proven, found'],
  ['meta', 'altered', 'UPDATE meta SET indexed_from = 1', 'refused, not proven, found'],
  ['store_format', 'lost', 'DELETE FROM store_format', 'refused, not proven, found'],
  ['block', 'lost', 'DELETE FROM block WHERE number = 12', 'refused, not proven, found'],
  [
    'block',
    'altered',
    'UPDATE block SET timestamp_seconds = 1 WHERE number = 12',
    'refused, not proven, found'
  ],
  [
    'block',
    'exchanged',
    'UPDATE block a SET hash = b.hash FROM block b WHERE a.number + b.number = 25 AND a.number IN (12, 13)',
    'refused, not proven, found'
  ],
  // Its hash is found in the record itself.
  ['tx', 'lost', `DELETE FROM tx WHERE id = ${id(12)}`, 'wrong, not proven, found'],
  [
    'tx',
    'altered',
    `UPDATE tx SET rec = set_byte(rec, 90, 255 - get_byte(rec, 90)) WHERE id = ${id(12)}`,
    'refused, not proven, found'
  ],
  [
    'tx',
    'exchanged',
    `UPDATE tx a SET rec = b.rec FROM tx b WHERE a.id + b.id = ${id(24, 1)} AND a.id IN (${id(12)}, ${id(12, 1)})`,
    'refused, not proven, found'
  ],
  ['address_tx', 'lost', `DELETE FROM address_tx WHERE ${row}`, 'wrong, not proven, found'],
  [
    'address_tx',
    'of another account',
    `UPDATE address_tx SET address = ${key(ann)} WHERE ${row}`,
    'wrong, not proven, found'
  ],
  [
    'address_tx',
    'of another transaction',
    `UPDATE address_tx SET tx_id = ${id(12, 1)} WHERE ${row}`,
    'refused, not proven, found'
  ],
  [
    'address_tx',
    'of no transaction',
    `UPDATE address_tx SET tx_id = ${id(12, 9)} WHERE ${row}`,
    'refused, not proven, found'
  ],
  ['holding', 'lost', 'DELETE FROM holding', 'wrong, not proven, found'],
  ['holding', 'altered', `UPDATE holding SET contract = ${key(ann)}`, 'wrong, not proven, found'],
  [
    'holding',
    'exchanged',
    `UPDATE holding SET owner = contract, contract = owner`,
    'wrong, not proven, found'
  ],
  ['account_event', 'lost', 'DELETE FROM account_event', 'right, proven, not found'],
  [
    'account_event',
    'altered',
    "UPDATE account_event SET rec = rec || '\\x0000'::bytea",
    'right, not proven, found'
  ],
  ['tally', 'lost', 'DELETE FROM tally', 'right, not proven, found'],
  ['tally', 'altered', 'UPDATE tally SET rec = set_byte(rec, 0, 7)', 'right, proven, found'],
  ['directory', 'lost', `DELETE FROM directory WHERE ${wholePartition}`, 'refused, proven, found'],
  [
    'directory',
    'altered',
    `UPDATE directory SET prints = 'abc' WHERE ${wholePartition}`,
    'refused, proven, found'
  ],
  [
    'directory',
    'exchanged',
    `UPDATE directory SET bucket = ${bucket} + 1 WHERE bucket = ${bucket}`,
    'refused, proven, found'
  ],
  ['key_part', 'lost', 'DELETE FROM key_part', 'refused, not proven, found'],
  ['key_part', 'altered', 'UPDATE key_part SET total = total + 1', 'refused, not proven, found'],
  ['key_part', 'exchanged', 'UPDATE key_part SET part = part # 1', 'refused, not proven, found'],
  ['pool', 'lost', 'DELETE FROM pool', 'refused, proven, not found'],
  ['pool', 'altered', 'UPDATE pool SET first_seen_seconds = 1', 'refused, proven, not found'],
  ['pool_address', 'lost', `DELETE FROM pool_address WHERE address = ${key(cleo)}`, 'refused, proven, found'],
  [
    'pool_address',
    'of another entry',
    'UPDATE pool_address SET pool_id = CASE pool_id WHEN 1 THEN 2 ELSE 1 END WHERE address IN (SELECT address FROM pool_address GROUP BY address HAVING count(*) = 1)',
    'refused, proven, found'
  ],
  // No read shows it. The writer refuses an altered one; without it a transaction counts as new when it comes back.
  ['first_seen', 'lost', 'DELETE FROM first_seen', 'right, proven, not found'],
  ['first_seen', 'altered', 'UPDATE first_seen SET first_seen_seconds = 1', 'right, proven, not found'],
  ['reorged', 'lost', 'DELETE FROM reorged', 'refused, proven, found'],
  ['reorged', 'altered', 'UPDATE reorged SET ancestor_number = 1', 'refused, proven, not found'],
  // A rollback finds that it is missing, and scans.
  ['undo', 'lost', 'DELETE FROM undo', 'right, proven, not found'],
  ['undo', 'altered', 'UPDATE undo SET tx_ids = tx_ids || 1::bigint', 'right, proven, found'],
  ['writer_report', 'altered', 'UPDATE writer_report SET head = 1', 'refused, proven, not found'],
  ['change_log', 'lost', 'DELETE FROM change_log WHERE kind = 2', 'refused, proven, not found'],
  [
    'change_log',
    'altered',
    'UPDATE change_log SET rec = rec || rec WHERE kind = 1',
    'refused, proven, not found'
  ]
])('%s %s', async (_, __, sql, expected) => {
  expect(await facts(sql)).toBe(expected)
})
