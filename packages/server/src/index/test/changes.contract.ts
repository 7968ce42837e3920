import { expect, test } from 'vitest'
import { checkChanges } from './checkChanges.ts'
import type { OpenStore } from './store.contract.ts'
import { useStores } from './useStore.ts'

/** The log of changes. */
export function describeChanges(open: OpenStore, share = 1): void {
  const { start } = useStores(open)
  const seed = Number(process.env.CHAIN_DATA_SEED ?? Date.now() % 2 ** 31)

  test('the fold of the changes is the history after every step, and replays repeat what a reader saw', async () => {
    await checkChanges(start, seed, Math.ceil(60 * share))
    expect(seed).toBeGreaterThanOrEqual(0)
  })
}
