import type { IndexedBlock } from '../src/model/evm.ts'
import type { StoreWriter } from '../src/port/writer.ts'
import { encodeBlock } from '../src/record/encodeBlock.ts'
import { packBlocks } from '../src/record/packBlocks.ts'

/** Commits blocks in one transaction as the indexer does: encoded, and packed together. */
export async function commitChain(
  writer: StoreWriter,
  blocks: readonly IndexedBlock[],
  options?: { readonly finalized?: number; readonly head?: number }
): Promise<void> {
  await writer.commitBlocks(packBlocks(blocks.map(encodeBlock)), options)
}
