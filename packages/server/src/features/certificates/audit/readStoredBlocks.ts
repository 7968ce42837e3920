import type { AccountEvent, Address, Snapshot, StoredBlock } from '@chain-data/index'
import { decodeDetailed } from '@chain-data/index/record'
import type { KnownTransaction } from '../../../evm/blocks/nativeChange.ts'
import type { IndexedPart } from './examineBlock.ts'

/** What the index has of a block: of one account, and of the block itself and those next to it. */
export interface StoredPart extends IndexedPart {
  readonly block?: StoredBlock
  readonly before?: StoredBlock
  readonly after?: StoredBlock
}

/**
 * Reads what is stored of some blocks in which an account has a record or an event.
 *
 * @param heights - descending; none of the account's blocks lies between two of them.
 * @throws {IndexDamagedError} a row does not agree with its checksum.
 */
export async function readStoredBlocks(
  snapshot: Snapshot,
  account: Address,
  heights: readonly number[]
): Promise<ReadonlyMap<number, StoredPart>> {
  const [highest = 0] = heights
  const lowest = heights.at(-1) ?? 0
  const transactions = new Map<number, Map<number, KnownTransaction>>()
  for await (const chunk of snapshot.records(account, {
    olderThan: { blockNumber: highest + 1, index: 0 }
  })) {
    let isOver = false
    for (const { transaction, details } of decodeDetailed(chunk)) {
      const { blockNumber, index } = transaction
      isOver ||= blockNumber < lowest
      const ofBlock = transactions.get(blockNumber) ?? new Map<number, KnownTransaction>()
      transactions.set(blockNumber, ofBlock.set(index, { transaction, ...details }))
    }
    if (isOver) break
  }
  const events = new Map<number, readonly AccountEvent[]>()
  for await (const blocks of snapshot.accountEvents(account, lowest)) {
    for (const found of blocks) events.set(found.blockNumber, found.events)
    if ((blocks.at(-1)?.blockNumber ?? 0) >= highest) break
  }
  const parts = new Map<number, StoredPart>()
  for (const height of heights) {
    const [before, block, after] = [
      height === 0 ? undefined : await snapshot.storedBlock(height - 1),
      await snapshot.storedBlock(height),
      await snapshot.storedBlock(height + 1)
    ]
    parts.set(height, {
      transactions: transactions.get(height) ?? new Map(),
      unread: new Set(),
      events: events.get(height) ?? [],
      ...(before && { before }),
      ...(block && { block }),
      ...(after && { after })
    })
  }
  return parts
}
