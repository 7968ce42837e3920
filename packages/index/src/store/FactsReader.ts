import { type FilteredRun, readFilters } from '../runs/filters.ts'
import { Manifest } from '../runs/Manifest.ts'
import type { ReadTransaction } from '../runs/Transaction.ts'
import type { IndexFacts } from './IndexSnapshot.ts'
import { type ChainMeta, checkChain } from './rows.ts'

/** Reads the state of one chain's index as a whole. Keeps the manifest and the filters while they stay the same. */
export class FactsReader {
  readonly #chainId: number
  #manifest = Manifest.empty
  #newestFirst: readonly FilteredRun[] = []

  /** The runs, as of the last read. */
  get newestFirst(): readonly FilteredRun[] {
    return this.#newestFirst
  }

  constructor(chainId: number) {
    this.#chainId = chainId
  }

  /**
   * @throws {StoreError} the store holds another chain.
   * @throws {IndexDamagedError} the manifest is not what was written.
   */
  async read(reads: ReadTransaction, meta: ChainMeta): Promise<IndexFacts> {
    checkChain(meta, this.#chainId)
    const { version, sum } = this.#manifest.mark
    const isKnown = version === meta.runs.version && sum === meta.runs.sum
    if (isKnown) return { meta, newestFirst: this.#newestFirst }
    const manifest = await Manifest.read(reads, this.#chainId, meta.runs)
    const newestFirst = await readFilters(reads, this.#chainId, manifest.newestFirst, this.#newestFirst)
    this.#manifest = manifest
    this.#newestFirst = newestFirst
    return { meta, newestFirst }
  }
}
