import type { IndexedBlock } from '../../model/evm.ts'
import { encodeBlock } from '../../records/encodeBlock.ts'
import { packBlocks } from '../../records/packBlocks.ts'
import type { StoreWriter } from '../store.ts'

/** Commits blocks in one transaction as the indexer does: encoded, and packed together. */
export async function commitChain(
  writer: StoreWriter,
  blocks: readonly IndexedBlock[],
  options?: { readonly finalized?: number }
): Promise<void> {
  await writer.commitBlocks(packBlocks(blocks.map(encodeBlock)), options)
}
