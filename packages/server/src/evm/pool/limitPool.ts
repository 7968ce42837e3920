import type { Address } from '../../model/evm.ts'
import type { PoolTransaction } from './readPoolEntries.ts'

/**
 * The entries that are kept of a pool that is too large: pending ones before queued ones, then the first of every sender
 * before the second of anybody, then by hash. So one sender's flood leaves the others' entries where they are, and two
 * looks at the same pool keep the same.
 */
export function limitPool(entries: readonly PoolTransaction[], most: number): readonly PoolTransaction[] {
  if (entries.length <= most) return entries
  const bySender = new Map<Address, PoolTransaction[]>()
  for (const entry of entries) {
    const queue = bySender.get(entry.from)
    if (queue === undefined) bySender.set(entry.from, [entry])
    else queue.push(entry)
  }
  const ranked: { readonly entry: PoolTransaction; readonly place: number }[] = []
  for (const queue of bySender.values()) {
    queue.sort((a, b) => (a.nonce < b.nonce ? -1 : a.nonce > b.nonce ? 1 : a.hash < b.hash ? -1 : 1))
    for (const [place, entry] of queue.entries()) ranked.push({ entry, place })
  }
  ranked.sort(
    (a, b) => b.entry.status - a.entry.status || a.place - b.place || (a.entry.hash < b.entry.hash ? -1 : 1)
  )
  return ranked.slice(0, most).map(({ entry }) => entry)
}
