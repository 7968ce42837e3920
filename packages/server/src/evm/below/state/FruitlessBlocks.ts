import { plural } from '../../../platform/plural.ts'

/** So many payments in a row without a transaction: to search on is of no use. */
const maxFruitless = 200
/** So many suffice where blocks themselves pay that often, as they pay a fee recipient or an address of withdrawals. */
const dense = { payments: 20, blocksEach: 1_000 }

/** Counts the blocks in a row that changed an account's balance without a transaction. */
export class FruitlessBlocks {
  #blocks = 0
  #paid = 0
  /** The first of them, or the last with a transaction; 0: none yet. */
  #above = 0

  /** Notes the next older block. */
  note(
    height: number,
    { hasRecords, isPaid }: { readonly hasRecords: boolean; readonly isPaid: boolean }
  ): void {
    if (this.#above === 0 || hasRecords) this.#above = height
    this.#paid = hasRecords ? 0 : this.#paid + (isPaid ? 1 : 0)
    this.#blocks = hasRecords ? 0 : this.#blocks + 1
  }

  /** Returns why to search on below a height is of no use, as a sentence; absent: it may be of some. */
  problemBelow(height: number): string | undefined {
    const isDense = this.#paid >= dense.payments && this.#above - height < this.#paid * dense.blocksEach
    if (this.#blocks < maxFruitless && !isDense) return undefined
    return `its balance grew in ${plural(this.#blocks, 'block')} down to ${height} without a transaction, as that of a fee recipient or of a withdrawal address does.`
  }
}
