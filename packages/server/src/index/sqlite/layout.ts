import type { AppendLayout } from './commit.ts'
import type { MergerLayout } from './merge.ts'

/** How the writer lays out what it stores; readers find it in the file. */
export interface Layout extends AppendLayout, MergerLayout {
  /** While blocks arrive without a pause, epochs are merged only as far as there are more than so many. */
  readonly mostEpochs: number
  /** After so long without new blocks epochs are merged, bit by bit; null: never. */
  readonly mergeAfterMs: number | null
}

/** What a server wants; docs/decisions/0056-epochs-are-merged.md says how the figures of epochs were found. */
export const defaultLayout: Layout = {
  epochTransactions: 100_000,
  mergeFanOut: 8,
  mergeRows: 4_000,
  mostEpochs: 128,
  mergeAfterMs: 250,
  minUndoBlocks: 256,
  maxUndoBlocks: 8192
}
