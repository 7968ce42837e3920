import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { buildChain, hashOf, people } from '../../test/buildChain.ts'
import { commitChain } from '../../test/commitChain.ts'
import { testIdentity } from '../../test/store.contract.ts'
import { createTestDatabase } from '../../test/support/startPostgres.ts'
import type { Address, IndexedBlock } from '../model/evm.ts'
import { addressBytes } from '../record/hexBytes.ts'
import { maxTransactionsPerBlock } from '../record/transactionId.ts'
import { directoryBucket, directoryPrint } from './directory.ts'
import { type Client, connect } from './driver.ts'
import { hashKeyNumber } from './literals.ts'
import { openPostgresWriter } from './openWriter.ts'
import { createReadStatements, type Statement } from './read.ts'
import { rollbackStatements } from './rollback.ts'

/** In every transaction, and in none: the two for which statistics say the most different things. */
const [busy = '0x', unknown = '0x']: readonly Address[] = people
const blocksOfPartition = 8
const transactionsOfBlock = 60
const blocks = buildChain(
  Array.from({ length: blocksOfPartition * 5 }, (_, block) =>
    Array.from({ length: transactionsOfBlock }, (_, i) => ({
      name: `tx ${block}/${i}`,
      parties: [busy, people[2 + (i % 6)] ?? busy],
      candidates: [{ owner: busy, contract: people[i % 8] ?? busy, standard: 'erc20' as const }]
    }))
  )
).map(block => ({
  ...block,
  events: people.map(address => ({ address, events: [{ kind: 'tip' as const, amount: 1n }] }))
}))
const end = blocks.length * maxTransactionsPerBlock
const statements = createReadStatements(testIdentity.chainId, { answerMs: 10_000, idleMs: 10_000 })
const schema = `chain_data_${testIdentity.chainId}`
const place = [directoryBucket(addressBytes(busy)), directoryPrint(addressBytes(busy))]

/** Stored in partitions of 8 blocks. @param whileFilling - called when a tenth is stored. */
async function fill(chain: readonly IndexedBlock[], whileFilling: (client: Client) => Promise<void>) {
  const url = await createTestDatabase()
  const size = blocksOfPartition * transactionsOfBlock
  const writer = await openPostgresWriter(url, testIdentity, {
    smallestPartition: size,
    largestPartition: size
  })
  const client = await connect(url, 'check')
  for (let i = 0; i < chain.length; i += 4) {
    await commitChain(writer, chain.slice(i, i + 4))
    if (i === 4) await whileFilling(client)
  }
  await writer.close()
  return client
}

const nothing = async () => {}
describe.each<[string, (client: Client) => Promise<unknown>, (client: Client) => Promise<unknown>]>([
  ['no statistics', nothing, nothing],
  ['statistics of the whole store', nothing, client => client.query('ANALYZE')],
  ['statistics from when little was stored', client => client.query('ANALYZE'), nothing],
  ['statistics that take the tables for empty', nothing, takeForEmpty]
])('with %s', (_, whileFilling, afterwards) => {
  let client: Client
  beforeAll(async () => {
    client = await fill(blocks, async filling => void (await whileFilling(filling)))
    await afterwards(client)
  })
  afterAll(() => client.end())

  it.each([
    ['a busy address', busy],
    ['an unknown address', unknown]
  ])(
    'a page of %s walks the index, newest partition first, and looks each record up',
    async (__, address) => {
      const plan = await explain(client, statements.records, [addressBytes(address), 0, end, 100, ...place])
      expectWalk(plan)
      const walked = plan.filter(
        ({ type, table }) => type === 'Index Only Scan' && table.startsWith('address_tx')
      )
      expect(walked.map(({ table }) => table)).toEqual([32, 24, 16, 8, 0].map(first => `address_tx_${first}`))
      expect(new Set(walked.map(({ direction }) => direction))).toEqual(new Set(['Backward']))
      expect(scansOf(plan, /^directory$/)).toEqual(['Index Scan directory_pkey'])
      const records = plan.filter(({ table }) => /^tx_\d+$/.test(table))
      expect(new Set(records.map(({ type, index }) => `${type} ${index?.replace(/\d+/, 'N')}`))).toEqual(
        new Set(['Index Scan tx_N_pkey'])
      )
    }
  )

  it('a page of the middle opens no partition that lies outside', async () => {
    const [from, to] = [16, 24].map(block => block * maxTransactionsPerBlock)
    const plan = await explain(client, statements.records, [addressBytes(busy), from, to, 100, ...place])
    expect(tablesOf(plan)).toEqual(['key_part', 'directory', 'address_tx_16', 'tx_16'])
  })

  it('a page of several ranges reads them one after the other, and opens no partition between them', async () => {
    const [newest, oldest] = [32, 8].map(block => ({
      from: block * maxTransactionsPerBlock,
      end: (block + 8) * maxTransactionsPerBlock
    }))
    if (newest === undefined || oldest === undefined) throw new Error('expected two ranges')
    const text = statements.recordsIn([newest, oldest], addressBytes(busy), 100)
    const plan = await explain(client, { name: '', text }, [])
    expectWalk(plan)
    expect(tablesOf(plan)).toEqual(['address_tx_32', 'tx_32', 'address_tx_8', 'tx_8'])
  })

  it('a count reads keys only', async () => {
    const plan = await explain(client, statements.count, [addressBytes(busy), 0, end, 1_000])
    expectWalk(plan)
    expect(plan.filter(({ table }) => table !== '').map(({ type }) => type)).toEqual(
      new Array(5).fill('Index Only Scan')
    )
  })

  it('a hash is found by its key, not by walking the ids', async () => {
    const plan = await explain(client, statements.hash, [hashKeyNumber(hashOf('tx 0/0')), 0, end])
    expectWalk(plan)
    const indexes = plan.flatMap(({ index }) => (index === undefined ? [] : [index]))
    expect(indexes).toHaveLength(5)
    expect(indexes.filter(index => !/hash_key/.test(index))).toEqual([])
  })

  it('an audited page walks the index as a page does, and looks each record and each block up', async () => {
    const plan = await explain(client, statements.audited, [addressBytes(busy), 0, end, 100])
    expectWalk(plan)
    expect(scansOf(plan, /^address_tx_/)).toEqual(['Index Only Scan address_tx_N_pkey'])
    expect(scansOf(plan, /^tx_/)).toEqual(['Index Scan tx_N_pkey'])
    expect(scansOf(plan, /^block$/)).toEqual(['Index Scan block_pkey'])
  })

  it('rows between two addresses are read from the keys, and only from partitions of the window', async () => {
    const [from, to] = [16, 32].map(block => block * maxTransactionsPerBlock)
    const all = Buffer.alloc(21, 0xff)
    const plan = await explain(client, statements.rowsBetween, [Buffer.alloc(20), -1, all, from, to, 8_192])
    expectWalk(plan, ['Merge Append'])
    const read = plan.filter(({ table }) => table !== '')
    expect(read.map(({ table }) => table).sort()).toEqual(['address_tx_16', 'address_tx_24'])
    expect(scansOf(plan, /./)).toEqual(['Index Only Scan address_tx_N_pkey'])
    // From the row before on, not from the first one.
    expect(read.map(({ condition }) => condition)).toEqual(
      new Array(2).fill(expect.stringMatching(/ROW\(address, tx_id\) > .*address < .*tx_id >= .*tx_id </))
    )
  })

  it('account events come from their index in the order of blocks; a block and a page of row checksums by their keys', async () => {
    const events = await explain(client, statements.events, [addressBytes(busy), 3, 100])
    expectWalk(events)
    expect(scansOf(events, /./)).toEqual(['Index Scan account_event_pkey'])
    expect(scansOf(await explain(client, statements.block, [7]), /./)).toEqual(['Index Scan block_pkey'])
    expect(scansOf(await explain(client, statements.checksumPage, [7]), /./)).toEqual([
      'Index Scan tally_pkey'
    ])
  })

  it('a rollback finds account events by their blocks', async () => {
    const ancestor = blocks.at(-3)?.ref ?? { number: 0, hash: '0x' }
    for (const hasUndo of [true, false]) {
      const plan = await explainOf(client, rollbackStatements(ancestor, hasUndo), 'DELETE FROM account_event')
      expect(scansOf(plan, /./).filter(scan => !/^ModifyTable/.test(scan))).toEqual([
        expect.stringMatching(/^(Index|Bitmap Heap) Scan( account_event_block)?$/)
      ])
    }
  })

  it('candidates, what is pending, what a reorg removed, and the sums of their parts come from their indexes', async () => {
    const none = Buffer.alloc(0)
    expectWalk(await explain(client, statements.holdings, [addressBytes(busy), none, none, -1, 500]))
    for (const statement of [statements.pending, statements.reorged, statements.candidatesWhole]) {
      expectWalk(await explain(client, statement, [addressBytes(busy)]), ['Result', 'Function Scan'])
    }
  })
})

interface PlanNode {
  readonly type: string
  /** Empty for a node that reads no table. */
  readonly table: string
  readonly index: string | undefined
  readonly direction: string | undefined
  /** What is looked up in the index. */
  readonly condition: string | undefined
}

/** The nodes of a statement's plan, as the reader has it made, from the top down. */
async function explain(client: Client, { text }: Statement, values: readonly unknown[]): Promise<PlanNode[]> {
  await client.query(statements.begin)
  try {
    const { rows } = await client.query(`EXPLAIN (FORMAT JSON) ${text}`, [...values])
    return toNodes(rows[0]['QUERY PLAN'][0].Plan)
  } finally {
    await client.query('ROLLBACK')
  }
}

type Plan = Readonly<Record<string, string>> & { readonly Plans?: readonly Plan[] }

function toNodes(plan: Plan): PlanNode[] {
  const node = {
    type: plan['Node Type'] ?? '',
    table: plan['Relation Name'] ?? '',
    index: plan['Index Name'],
    direction: plan['Scan Direction'],
    condition: plan['Index Cond']
  }
  return [node, ...(plan.Plans ?? []).flatMap(toNodes)]
}

/** The plan of the one of these statements that begins so, after those before it. */
async function explainOf(
  client: Client,
  script: readonly string[],
  beginning: string
): Promise<readonly PlanNode[]> {
  await client.query(`BEGIN; SET LOCAL search_path = ${schema}`)
  try {
    for (const statement of script) {
      if (!statement.startsWith(beginning)) await client.query(statement)
      else {
        const { rows } = await client.query(`EXPLAIN (FORMAT JSON) ${statement}`)
        return toNodes(rows[0]['QUERY PLAN'][0].Plan)
      }
    }
    throw new Error(`no statement begins with ${beginning}`)
  } finally {
    await client.query('ROLLBACK')
  }
}

/** The tables that are read, in the order of the plan. */
function tablesOf(plan: readonly PlanNode[]): readonly string[] {
  return plan.flatMap(({ table }) => (table === '' ? [] : [table]))
}

/** In what ways tables of these names are read, each once, whichever of the partitions it is. */
function scansOf(plan: readonly PlanNode[], tables: RegExp): readonly string[] {
  const scans = plan
    .filter(({ table }) => table !== '' && tables.test(table))
    .map(({ type, index = '' }) => `${type} ${index.replace(/\d+/, 'N')}`.trim())
  return [...new Set(scans)]
}

function expectWalk(plan: readonly PlanNode[], alsoHarmless: readonly string[] = []): void {
  const harmless = [
    'Aggregate',
    'Append',
    'Index Only Scan',
    'Index Scan',
    'Limit',
    'Nested Loop',
    'Subquery Scan'
  ]
  expect(plan.map(({ type }) => type).filter(type => ![...harmless, ...alsoHarmless].includes(type))).toEqual(
    []
  )
}

/** As a crash or a restore leaves them: rows, and statistics that know of none. */
async function takeForEmpty(client: Client): Promise<void> {
  await client.query(
    `UPDATE pg_class SET reltuples = 0, relpages = 0
     WHERE relnamespace = '${schema}'::regnamespace AND relkind IN ('r', 'i')`
  )
}
