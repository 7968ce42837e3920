import type { AccountEvent, Address } from '@chain-data/index'
import { decodeDetailed, toPosition } from '@chain-data/index/record'
import type { KnownTransaction } from '../../../evm/blocks/nativeChange.ts'
import type { AuditedRows } from './joinOlder.ts'

/** An amount of an account that transactions and events change. */
export interface Quantity {
  change(known: KnownTransaction): bigint
  changeByEvents(events: readonly AccountEvent[]): bigint
}

/** Blocks above `low`, up to and with `high`. */
export interface Heights {
  readonly low: number
  readonly high: number
}

/** With more changes than this, neighbouring blocks are kept as one: memory does not grow with a history. */
const maxCells = 4_096

/** Adds up how one quantity of an account changed within a range of blocks, as the index has it. */
export class Ledger {
  readonly #range: Heights
  /** Blocks that are kept as one: those with the same `floor(height / size)`. */
  #size = 1
  #cells = new Map<number, bigint>()
  /** Cells in order, with what had changed when each of them was over; made when it is asked for first. */
  #sums: readonly { readonly cell: number; readonly sum: bigint }[] | undefined

  constructor(range: Heights) {
    this.#range = range
  }

  add(height: number, change: bigint): void {
    if (change === 0n || height <= this.#range.low || height > this.#range.high) return
    const cell = Math.floor(height / this.#size)
    this.#cells.set(cell, (this.#cells.get(cell) ?? 0n) + change)
    this.#sums = undefined
    if (this.#cells.size > maxCells) this.#joinPairs()
  }

  /** Returns the sum of changes up to the end of block `height`; absent: the height lies within blocks that are kept as one. */
  at(height: number): bigint | undefined {
    const { low, high } = this.#range
    if (height <= low) return 0n
    const cell = Math.floor(height / this.#size)
    const isWhole = height >= high || height === this.#lastOf(cell) || !this.#cells.has(cell)
    return isWhole ? this.#sumUpTo(cell) : undefined
  }

  /** Heights next to the middle at which the sum is known; none when everything is kept as one. */
  edgesAround(height: number): readonly number[] {
    const last = this.#lastOf(Math.floor(height / this.#size))
    return [last - this.#size, last]
  }

  #lastOf(cell: number): number {
    return (cell + 1) * this.#size - 1
  }

  #sumUpTo(cell: number): bigint {
    this.#sums ??= this.#addUp()
    let low = 0
    let high = this.#sums.length
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.#sums[middle]?.cell ?? 0) <= cell) low = middle + 1
      else high = middle
    }
    return this.#sums[low - 1]?.sum ?? 0n
  }

  #addUp() {
    let sum = 0n
    return [...this.#cells]
      .sort(([a], [b]) => a - b)
      .map(([cell, change]) => {
        sum += change
        return { cell, sum }
      })
  }

  #joinPairs(): void {
    const cells = this.#cells
    this.#cells = new Map()
    this.#size *= 2
    for (const [cell, change] of cells) {
      const joined = Math.floor(cell / 2)
      this.#cells.set(joined, (this.#cells.get(joined) ?? 0n) + change)
    }
  }
}

/**
 * Reads what the index knows of a quantity.
 * @remarks One pass over the account's history, from its newest transaction down to the range.
 */
export async function readLedger(
  snapshot: AuditedRows,
  account: Address,
  quantity: Quantity,
  range: Heights
): Promise<Ledger> {
  const ledger = new Ledger(range)
  if (range.high <= range.low) return ledger
  for await (const chunk of snapshot.auditedRecords(account)) {
    for (const { transaction, details } of decodeDetailed(chunk)) {
      const { blockNumber } = transaction
      if (blockNumber > range.low && blockNumber <= range.high) {
        ledger.add(blockNumber, quantity.change({ transaction, ...details }))
      }
    }
    const oldest = chunk.ids.at(-1)
    if (oldest !== undefined && toPosition(oldest).blockNumber <= range.low) break
  }
  for await (const blocks of snapshot.accountEvents(account)) {
    for (const { blockNumber, events } of blocks) ledger.add(blockNumber, quantity.changeByEvents(events))
  }
  return ledger
}
