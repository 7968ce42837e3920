import { firstTransactionId, maxBlockNumber, maxTransactionsPerBlock } from '../record/transactionId.ts'
import type { Client } from './driver.ts'
import { partitionIds } from './schema.ts'

/** Blocks from `first` up to, but not with, `end`: one partition of each large table. */
export interface BlockRange {
  readonly first: number
  readonly end: number
}

/** The tables that are cut. */
const cutTables = ['tx', 'address_tx'] as const

/** How large a partition may become while the store is small, and at most; in transactions. */
export interface PartitionSizes {
  readonly smallest: number
  readonly largest: number
}

/** Figures that the size of a new partition follows. */
export interface StoredAmount {
  readonly transactions: number
  readonly blocks: number
  /** Transactions of a block, on average over the newest ones. */
  readonly density: number
}

/** A partition never takes more than this part of the stored amount: see docs/decisions on its size. */
const partOfStore = 1 / 8
/** However few transactions a chain has, a partition may take so many blocks. */
const fewestBlocks = 65_536

/**
 * How many blocks the next partition takes: expected to fill it with an eighth of the transactions stored so far, within
 * the bounds, and never more than an eighth of the blocks, since a chain may come alive.
 */
export function partitionBlocks(stored: StoredAmount, sizes: PartitionSizes): number {
  const wanted = Math.min(sizes.largest, Math.max(sizes.smallest, stored.transactions * partOfStore))
  const most = Math.max(fewestBlocks, Math.floor(stored.blocks * partOfStore))
  const expected = stored.density > 0 ? Math.ceil(wanted / stored.density) : most
  return Math.max(1, Math.min(expected, most))
}

/** The partitions of one schema, known to its writer, which alone makes them. */
export class Partitions {
  readonly #client: Client
  /** Ascending; they never overlap. */
  #ranges: readonly BlockRange[]

  private constructor(client: Client, ranges: readonly BlockRange[]) {
    this.#client = client
    this.#ranges = ranges
  }

  /** Reads which there are. */
  static async load(client: Client): Promise<Partitions> {
    const { rows } = await client.query<{ bound: string }>(
      `SELECT pg_get_expr(c.relpartbound, c.oid) AS bound FROM pg_inherits
       JOIN pg_class c ON c.oid = inhrelid WHERE inhparent = 'tx'::regclass`
    )
    return new Partitions(
      client,
      rows.map(({ bound }) => toRange(bound)).sort((a, b) => a.first - b.first)
    )
  }

  /** All of them, ascending. */
  get ranges(): readonly BlockRange[] {
    return this.#ranges
  }

  /** The partition that holds a block; absent when none does yet. */
  holding(block: number): BlockRange | undefined {
    return this.#ranges.find(({ first, end }) => first <= block && block < end)
  }

  /** Every block from `first` to `last` has its partition. */
  covers(first: number, last: number): boolean {
    for (let block = first; block <= last; ) {
      const range = this.holding(block)
      if (range === undefined) return false
      block = range.end
    }
    return true
  }

  /** The first block of the partition before the one that holds `block`: recent blocks begin there. */
  recentFrom(block: number): number {
    const at = this.#ranges.findIndex(({ first, end }) => first <= block && block < end)
    return this.#ranges[Math.max(0, at - 1)]?.first ?? 0
  }

  /**
   * Makes the partitions that the blocks from `first` to `last` lack, in one transaction of its own. Readers never wait, and are
   * not waited for: a table is made by itself and then attached, which blocks neither queries nor rows.
   * @param span - how many blocks each is to take.
   * @param begin - the statements that the transaction begins with.
   */
  async makeFor(first: number, last: number, span: number, begin: string): Promise<void> {
    const made: BlockRange[] = []
    for (let block = first; block <= last; ) {
      const range = this.holding(block)
      if (range === undefined) made.push(this.#rangeAt(block, span))
      block = (range ?? made.at(-1))?.end ?? last + 1
    }
    await this.#make(made, begin)
  }

  /** Does the same for blocks that are followed by others below them: each partition ends at its newest one. */
  async makeDownFor(first: number, last: number, span: number, begin: string): Promise<void> {
    const made: BlockRange[] = []
    for (let block = last; block >= first; ) {
      const range = this.holding(block)
      const below = this.#ranges.findLast(({ end }) => end <= block)?.end ?? 0
      if (range === undefined) made.push({ first: Math.max(below, block + 1 - span), end: block + 1 })
      block = (range ?? made.at(-1) ?? { first: 0 }).first - 1
    }
    await this.#make(made, begin)
  }

  async #make(made: readonly BlockRange[], begin: string): Promise<void> {
    if (made.length === 0) return
    try {
      // Each in a text of its own: Citus sends the text of such a statement on to the nodes as it is.
      for (const statement of [begin, ...made.flatMap(makeTables), 'COMMIT'])
        await this.#client.query(statement)
    } catch (error) {
      await this.#client.query('ROLLBACK').catch(() => {})
      throw error
    }
    this.#ranges = [...this.#ranges, ...made].sort((a, b) => a.first - b.first)
  }

  #rangeAt(block: number, span: number): BlockRange {
    const next = this.#ranges.find(({ first }) => first > block)?.first ?? maxBlockNumber + 1
    return { first: block, end: Math.min(block + span, next) }
  }
}

/** A bound of the largest id would not be exact as a number. */
function firstId(block: number): string {
  return block > maxBlockNumber ? 'MAXVALUE' : String(firstTransactionId(block))
}

function makeTables({ first, end }: BlockRange): readonly string[] {
  return cutTables.flatMap(table => {
    const name = `${table}_${first}`
    return [
      `CREATE TABLE ${name} (LIKE ${table} INCLUDING ALL)`,
      `ALTER TABLE ${table} ATTACH PARTITION ${name} FOR VALUES FROM (${firstId(first)}) TO (${firstId(end)})`
    ]
  })
}

function toRange(bound: string): BlockRange {
  const { from, end } = partitionIds(bound)
  return { first: from / maxTransactionsPerBlock, end: Math.ceil(end / maxTransactionsPerBlock) }
}
