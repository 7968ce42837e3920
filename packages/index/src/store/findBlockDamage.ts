import type { Damage } from '../platform/errors.ts'
import { toPosition } from '../record/transactionId.ts'

/** Rows of consecutive blocks. */
export interface BlockRowsFound {
  readonly blocks: readonly {
    readonly number: number
    readonly hash: Uint8Array
    readonly parentHash: Uint8Array
    readonly transactions: number
  }[]
  /** Ids of the records that are there. */
  readonly ids: readonly number[]
  /** Rows that differ from their checksums, or that a row next to them shows to be missing. */
  readonly damage: readonly Damage[]
}

/** Finds what is damaged or missing in rows of the blocks `from` to `to`: each block is there once, linked to the one before. */
export function findBlockDamage(
  { blocks, ids, damage }: BlockRowsFound,
  from: number,
  to: number
): readonly Damage[] {
  const found = [...damage]
  const counts = new Map<number, number>()
  for (const id of ids) {
    const { blockNumber } = toPosition(id)
    counts.set(blockNumber, (counts.get(blockNumber) ?? 0) + 1)
  }
  const byNumber = new Map(blocks.map(block => [block.number, block]))
  for (let number = from; number <= to; number++) {
    const block = byNumber.get(number)
    const before = byNumber.get(number - 1)
    const isLinked =
      block !== undefined && (before === undefined || Buffer.compare(block.parentHash, before.hash) === 0)
    if (!isLinked) found.push({ part: 'block', block: number })
    else if (block.transactions !== (counts.get(number) ?? 0)) found.push({ part: 'record', block: number })
  }
  const named = new Map(found.map(each => [`${each.part} ${each.block}`, each]))
  return [...named.values()]
}
