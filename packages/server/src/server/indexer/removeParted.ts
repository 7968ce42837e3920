import type { Damage, StoreWriter } from '@chain-data/index'
import type { Healer } from './createHealer.ts'

/** Removes a damaged newest block that the node has another one of: nothing can be followed, or replaced, from it. */
export async function removeParted(
  store: Pick<StoreWriter, 'blockRef' | 'rollbackTo'>,
  { block }: Damage,
  { isParted }: Pick<Healer, 'isParted'>
): Promise<void> {
  if (block === undefined || !isParted(block)) return
  // Where that one is damaged too, it is healed or removed first.
  const before = await store.blockRef(block - 1).catch(() => undefined)
  if (before !== undefined) await store.rollbackTo(before)
}
