import { type Hash, StoreLostError, type StoreReader, type WriterReport } from '@chain-data/index'
import { type IndexFacts, newestHead } from '../../model/sync.ts'
import { pause } from '../../platform/concurrency/pause.ts'
import { describeProblem, type StatusBoard, stalledBy } from './status.ts'
import { createWriterWatch } from './writerWatch.ts'

/** The contents of a chain's index, and the last report of its writer. */
export interface StoredProgress extends IndexFacts {
  readonly genesisHash: Hash
  /** The writer's last report, however old. */
  readonly report?: WriterReport
}

/**
 * Reads the progress of a chain's index and the last report of its writer, from one snapshot.
 * @returns absent while there is no index.
 * @throws {StoreError} the store cannot be read.
 */
export async function readProgress(
  reader: Pick<StoreReader, 'openSnapshot'>
): Promise<StoredProgress | undefined> {
  const snapshot = await reader.openSnapshot()
  try {
    const identity = await snapshot.identity()
    if (identity === undefined) return undefined
    const range = await snapshot.indexedRange()
    const { backfilled, degraded } = await snapshot.marks()
    const report = await snapshot.writerReport()
    return {
      ...{ genesisHash: identity.genesisHash, backfilled, degraded },
      range,
      ...(report === undefined ? {} : { report })
    }
  } finally {
    await snapshot.close()
  }
}

interface WriterViewOptions {
  readonly board: StatusBoard
  /** First block of an index that is empty yet. */
  readonly startBlock: number
  /** Silence after which a writer is shown as stalled. */
  readonly silentAfterMs: number
  /** Names the problem while no writer is heard. */
  silentProblem(): string
  /** Called with the genesis block of the index, once the writer has been heard. */
  onGenesis?(genesisHash: Hash): void
}

/**
 * Shows a writer elsewhere and the index on the board, so that this server can answer as the writer could.
 *
 * @returns to be called after every read of the store, with its result, or its failure.
 */
function createWriterView({
  board,
  startBlock,
  silentAfterMs,
  silentProblem,
  onGenesis
}: WriterViewOptions): (stored: StoredProgress | undefined, failure?: unknown) => void {
  const watch = createWriterWatch({ silentAfterMs })
  let toldGenesis: Hash | undefined
  let hasIndex = false

  return (stored, failure) => {
    hasIndex ||= stored !== undefined
    const lost = failure === undefined && stored === undefined && hasIndex ? goneIndex() : failure
    if (lost instanceof StoreLostError) {
      watch.forget()
      return board.change({ ...stalledBy(lost), waiting: true })
    }
    const heard = watch.look(stored?.report)
    if (heard.kind === 'listening') return
    const index = stored === undefined ? {} : indexFacts(stored, startBlock)
    if (heard.kind === 'silent') {
      // Why the index was lost says more.
      if (board.read().indexUnusable) return
      const problem = failure === undefined ? silentProblem() : describeProblem(failure)
      board.change({ ...index, waiting: true, phase: 'stalled', problem, rollingBackTo: undefined })
      return
    }
    if (stored !== undefined && stored.genesisHash !== toldGenesis) {
      toldGenesis = stored.genesisHash
      onGenesis?.(toldGenesis)
    }
    const { phase, finalized, rollingBackTo, poolCovered, poolAgeMs } = heard.report
    const { head, headTimestampSeconds } = newestHead(heard.report, stored?.range)
    board.change({
      ...{
        ...index,
        waiting: true,
        phase,
        finalized,
        rollingBackTo,
        poolCovered,
        head,
        headTimestampSeconds
      },
      poolSeenAtMs: poolAgeMs === undefined ? undefined : heard.writtenAtMs - poolAgeMs,
      ...{ problem: heard.report.problem, indexUnusable: undefined }
    })
  }
}

function goneIndex(): StoreLostError {
  return new StoreLostError(
    "the chain's index is gone from the store: restore it, or let a server that indexes begin a new one"
  )
}

/** The index itself is newer than the writer's report of it. */
function indexFacts({ range, backfilled, degraded }: StoredProgress, startBlock: number) {
  return { indexedFrom: range?.from ?? startBlock, indexedTo: range?.to, backfilled, degraded }
}

/**
 * Shows the other process or thread that writes the index on the board, as `createWriterView` does.
 * @param options.onRead - called after each read, with its failure if it failed.
 * @returns when `signal` is aborted; the board stays as it is then.
 */
export async function showWriter({
  peek,
  everyMs = 100,
  onRead = () => undefined,
  signal,
  ...view
}: WriterViewOptions & {
  peek(): Promise<StoredProgress | undefined>
  /** Pause between two reads; 100 ms. */
  readonly everyMs?: number
  onRead?(failure: unknown): void
  readonly signal: AbortSignal
}): Promise<void> {
  const show = createWriterView(view)
  while (!signal.aborted) {
    let failure: unknown
    const stored = await peek().catch((error: unknown) => {
      failure = error
      return undefined
    })
    if (signal.aborted) return
    show(stored, failure)
    onRead(failure)
    await pause(everyMs, signal)
  }
}
