import { setTimeout as sleep } from 'node:timers/promises'
import type { Hash } from '../model/evm.ts'
import type { StoredProgress } from './runIndexer.ts'
import type { StatusBoard } from './statusBoard.ts'
import { createWriterWatch } from './writerWatch.ts'

const lookEveryMs = 100

/**
 * While another process or thread writes the index: puts on the board what that one says and what the index holds, so that
 * whoever reads the board can answer as the writer could. A writer that is silent for `silentAfterMs` is told as stalled.
 *
 * @param options.onGenesis - called with the genesis block of the index, once the writer has been heard.
 * @returns when `signal` is aborted; the board stays as it is then.
 */
export async function showWriter({
  peek,
  board,
  startBlock,
  silentAfterMs,
  onGenesis,
  signal
}: {
  peek(): Promise<StoredProgress | undefined>
  readonly board: StatusBoard
  /** Where an index that holds nothing yet will begin. */
  readonly startBlock: number
  readonly silentAfterMs: number
  onGenesis?(genesisHash: Hash): void
  readonly signal: AbortSignal
}): Promise<void> {
  const watch = createWriterWatch({ silentAfterMs })
  let toldGenesis: Hash | undefined
  const problem = `another process or thread holds the writer's lock of this chain, but has not said for more than ${silentAfterMs} ms how it stands`

  function show(stored: StoredProgress | undefined): void {
    const heard = watch.look(stored?.report)
    if (heard.kind === 'listening') return
    const index = stored === undefined ? {} : indexFacts(stored, startBlock)
    if (heard.kind === 'silent') {
      board.change({ ...index, waiting: true, phase: 'stalled', problem, rollingBackTo: undefined })
      return
    }
    if (stored !== undefined && stored.genesisHash !== toldGenesis) {
      toldGenesis = stored.genesisHash
      onGenesis?.(toldGenesis)
    }
    const { phase, finalized, rollingBackTo, poolCovered, poolAgeMs } = heard.report
    board.change({
      ...{ ...index, waiting: true, phase, finalized, rollingBackTo, poolCovered },
      head: newestNamed(heard.report, stored?.indexedTo?.number),
      poolSeenAtMs: poolAgeMs === undefined ? undefined : heard.writtenAtMs - poolAgeMs,
      problem: heard.report.problem
    })
  }

  while (!signal.aborted) {
    const stored = await peek()
    if (signal.aborted) return
    show(stored)
    await sleep(lookEveryMs, undefined, { signal }).catch(() => undefined)
  }
}

/** What the index says of itself is newer than what its writer has said of it. */
function indexFacts({ indexedFrom, indexedTo, backfilled, degraded }: StoredProgress, startBlock: number) {
  return { indexedFrom: indexedFrom ?? startBlock, indexedTo, backfilled, degraded }
}

/** Where the index has grown since the report, the node has named at least what is in it now. */
function newestNamed(
  report: { readonly head?: number; readonly indexedTo?: number },
  indexedTo: number | undefined
): number | undefined {
  if (indexedTo === undefined || indexedTo <= (report.indexedTo ?? -1)) return report.head
  return Math.max(indexedTo, report.head ?? indexedTo)
}
