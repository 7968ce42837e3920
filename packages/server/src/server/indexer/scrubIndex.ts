import { StoreError, type StoreReader, walkIndex } from '@chain-data/index'
import { pause } from '../../platform/concurrency/pause.ts'
import { present } from '../../platform/present.ts'
import type { Healer } from './Healer.ts'
import type { StatusBoard } from './status.ts'

/** Pause after each piece, at least, as a multiple of its time: other work of the thread comes first. */
const restPerPiece = 4
/** Pause after a pass, and after a store that could not be read. */
const restMs = 1_000
/** Interval of the progress that is shown. */
const showEveryMs = 1_000

/**
 * Reads and checks the whole index again and again, until `signal` is aborted, so slowly that nobody feels it. Damage goes to
 * the healer. Each start begins somewhere else, so that restarts leave no part unread.
 * @param options.passSeconds - time that one pass is to take, if it can.
 */
export async function scrubIndex(options: {
  readonly reader: Pick<StoreReader, 'openSnapshot'>
  readonly passSeconds: number
  readonly healer: Pick<Healer, 'report'>
  readonly board: StatusBoard
  readonly signal: AbortSignal
}): Promise<void> {
  const { reader, passSeconds, healer, board, signal } = options
  let checkedBlocks = board.read().integrity?.checkedBlocks ?? 0

  /** @returns whether it came to the end. */
  async function pass(): Promise<boolean> {
    const startedMs = performance.now()
    let pieceMs = startedMs
    let shownMs = Number.NEGATIVE_INFINITY
    for await (const { blocks, damage, done } of walkIndex(reader, { startAt: Math.random() })) {
      for (const each of damage) healer.report(each)
      checkedBlocks += blocks
      const nowMs = performance.now()
      if (nowMs - shownMs > showEveryMs) {
        await show({ passDone: done })
        shownMs = nowMs
      }
      const dueMs = startedMs + done * passSeconds * 1_000
      await pause(Math.max(dueMs - nowMs, restPerPiece * (nowMs - pieceMs)), signal)
      if (signal.aborted) return false
      pieceMs = performance.now()
    }
    return true
  }

  async function show(progress: { readonly passDone: number; readonly passEndedAtMs?: number }) {
    const checkedFrom = await readCheckedFrom(reader)
    const { damaged = 0, healed = 0, checkedFrom: _, ...rest } = board.read().integrity ?? {}
    const found = { damaged, healed, checkedBlocks, ...present({ checkedFrom }) }
    board.change({ integrity: { ...rest, ...found, ...progress } })
  }

  while (!signal.aborted) {
    try {
      if (await pass()) await show({ passDone: 1, passEndedAtMs: Date.now() })
    } catch (error) {
      // A store that is lost is opened again by others, who say so.
      if (!(error instanceof StoreError)) throw error
    }
    await pause(restMs, signal)
  }
}

async function readCheckedFrom(reader: Pick<StoreReader, 'openSnapshot'>): Promise<number | undefined> {
  const snapshot = await reader.openSnapshot()
  try {
    return (await snapshot.indexedRange())?.from
  } finally {
    await snapshot.close()
  }
}
