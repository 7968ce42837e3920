import { plural } from '../../../../platform/plural.ts'

/** So many payments in a row without a transaction: to search on is of no use. */
const maxFruitless = 200
/** So many suffice where blocks themselves pay that often, as they pay a fee recipient or an address of withdrawals. */
const dense = { payments: 20, blocksEach: 1_000 }

/**
 * Counts the blocks in a row that changed an account's balance without a transaction. Where to give up depends on the chain alone, as
 * long as each search begins at a block with a transaction, or at the index.
 */
export class FruitlessBlocks {
  #blocks = 0
  #paid = 0
  /** The last block with a transaction, or where the search began. */
  #above: number
  #problem: string | undefined

  /** @param below - where the search begins. */
  constructor(below: number) {
    this.#above = below
  }

  /** From here upwards another search need not begin. */
  get above(): number {
    return this.#above
  }

  /** Why to search on is of no use, as a sentence; absent: it may be of some. */
  get problem(): string | undefined {
    return this.#problem
  }

  /** Notes the next older block. */
  note(
    height: number,
    { hasRecords, isPaid }: { readonly hasRecords: boolean; readonly isPaid: boolean }
  ): void {
    if (hasRecords) {
      this.#above = height
      this.#blocks = this.#paid = 0
      return
    }
    this.#blocks++
    if (isPaid) this.#paid++
    const isDense = this.#paid >= dense.payments && this.#above - height < this.#paid * dense.blocksEach
    if (this.#blocks < maxFruitless && !isDense) return
    this.#problem = `its balance grew in ${plural(this.#blocks, 'block')} down to ${height} without a transaction, as that of a fee recipient or of a withdrawal address does.`
  }
}
