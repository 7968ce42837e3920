import { setImmediate as breathe } from 'node:timers/promises'
import { type Damage, IndexDamagedError } from './platform/errors.ts'
import type { Snapshot, StoreReader } from './port/store.ts'
import { partCount } from './record/keyParts.ts'

/** Result of checking a small piece of an index. */
export interface CheckedPiece {
  readonly blocks: number
  /** Number of blocks of the whole index. */
  readonly allBlocks: number
  readonly damage: readonly Damage[]
  /** Share of the index that is checked by now, from 0 to 1. */
  readonly done: number
}

/** Bounds of the time that one piece takes: the next one is twice as large below, and half as large above. */
const shortMs = 10
const longMs = 50
const maxPiece = 1_024
/** Share of a walk that the blocks take; the rest are the chunks of its runs. */
const blockShare = 0.7

/**
 * Checks a whole index, in pieces that each take some milliseconds and a snapshot of their own: first its blocks, then the
 * chunks of its runs.
 * @param options.startAt - where among the blocks to begin, from 0 to 1: the blocks before come last.
 */
export async function* walkIndex(
  reader: Pick<StoreReader, 'openSnapshot'>,
  { startAt = 0 }: { readonly startAt?: number } = {}
): AsyncGenerator<CheckedPiece, void, undefined> {
  const range = await inSnapshot(reader, snapshot => snapshot.indexedRange())
  if (!('value' in range)) {
    yield { blocks: 0, allBlocks: 0, damage: range.damage, done: 0 }
    return
  }
  if (range.value === undefined) return
  const { from, to } = range.value
  const allBlocks = to.number - from + 1
  const first = from + Math.floor(Math.min(0.999, startAt) * allBlocks)
  let checked = 0
  let size = 16
  for (const [start, end] of [
    [first, to.number],
    [from, first - 1]
  ] as const) {
    for (let number = start; number <= end; ) {
      const last = Math.min(end, number + size - 1)
      const startedMs = performance.now()
      const found = await inSnapshot(reader, async snapshot => {
        // A reorg may have removed blocks since the walk began.
        const head = (await snapshot.indexedRange())?.to.number ?? -1
        return head < number ? [] : snapshot.findDamage(number, Math.min(last, head))
      })
      checked += last - number + 1
      const damage = 'value' in found ? found.value : found.damage
      size = nextSize(size, startedMs)
      yield { blocks: last - number + 1, allBlocks, damage, done: (blockShare * checked) / allBlocks }
      number = last + 1
      await breathe()
    }
  }
  size = 16
  for (let part = 0; part < partCount; ) {
    const end = Math.min(partCount, part + size)
    const startedMs = performance.now()
    const found = await inSnapshot(reader, snapshot => snapshot.findChunkDamage(part, end))
    const damage = 'value' in found ? found.value : found.damage
    size = nextSize(size, startedMs)
    yield { blocks: 0, allBlocks, damage, done: blockShare + ((1 - blockShare) * end) / partCount }
    part = end
    await breathe()
  }
}

function nextSize(size: number, startedMs: number): number {
  const tookMs = performance.now() - startedMs
  if (tookMs > longMs) return Math.max(1, size >> 1)
  return tookMs < shortMs ? Math.min(maxPiece, size * 2) : size
}

/** Reads from a snapshot of its own. @returns the damage instead where it met some. */
async function inSnapshot<T>(
  reader: Pick<StoreReader, 'openSnapshot'>,
  read: (snapshot: Snapshot) => Promise<T>
): Promise<{ readonly value: T } | { readonly damage: readonly Damage[] }> {
  try {
    const snapshot = await reader.openSnapshot()
    try {
      return { value: await read(snapshot) }
    } finally {
      await snapshot.close()
    }
  } catch (error) {
    if (error instanceof IndexDamagedError) return { damage: [error.damage] }
    throw error
  }
}
