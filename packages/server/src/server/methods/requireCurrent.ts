import { setTimeout as sleep } from 'node:timers/promises'
import type {
  IndexCoverage,
  IndexedRange,
  IndexMarks,
  IndexState,
  Snapshot,
  SnapshotOptions,
  StatusReader,
  StoreReader,
  SyncStatus
} from '@chain-data/index'
import type { HistoryCertificate } from '@chain-data/protocol'
import type { AnswerCoverage } from '../../model/coverage.ts'
import { newestHead, type ReadinessRules, whyNotReady, withIndex } from '../../model/sync.ts'
import { type Clock, steadyClock } from '../../platform/clock.ts'
import { present } from '../../platform/present.ts'
import { Refusal } from '../../platform/refusal.ts'
import type { CoverageBelow } from './coverageBelow.ts'
import type { MethodContext } from './MethodContext.ts'

/** After a start or a reorg the index is level with its node again within a moment: a call waits so long for it. */
const startWaitMs = 5_000
const pollMs = 25

/** A chain with its index. */
interface IndexedChain {
  readonly reader: Pick<StoreReader, 'openSnapshot'>
  readonly status: () => SyncStatus
}

/** A view of an index, which is the caller's to close, and the status of its chain, read after it. */
interface OpenedIndex {
  readonly snapshot: Snapshot
  readonly status: SyncStatus
}

/**
 * Opens a view of the index as it is now.
 *
 * @throws {Refusal} UPSTREAM_UNAVAILABLE when the index cannot be used.
 */
export async function openUsable(
  { reader, status }: IndexedChain,
  { pause, historyOf }: SnapshotOptions
): Promise<OpenedIndex> {
  const before = status()
  if (before.indexUnusable) throw notHeard(before)
  return { snapshot: await reader.openSnapshot({ pause, historyOf }), status: status() }
}

/**
 * Opens a view of the index, with the chain's status, once its indexer has reported it. The view is never one from the
 * middle of a reorg. It is the caller's to close.
 *
 * The status comes from another thread or process and may be late, so it does not show what the view holds. The view itself can: a
 * rollback unsettles the index in its own transaction, and only the check of index and pool that ends it settles it.
 *
 * @throws {Refusal} UPSTREAM_UNAVAILABLE when the index stays in the middle of a reorg, or cannot be used.
 * @remarks Waits while the index is being brought up to date after a start or a reorg, some seconds at most.
 */
export async function openSettled(
  chain: IndexedChain,
  { signal, pause, historyOf }: Pick<MethodContext, 'signal'> & SnapshotOptions,
  clock: Clock = steadyClock
): Promise<OpenedIndex> {
  const { status: readStatus } = chain
  const lastMoment = clock.now() + startWaitMs
  for (;;) {
    while (isCatchingUp(readStatus()) && clock.now() < lastMoment) await sleep(pollMs, undefined, { signal })
    const { snapshot } = await openUsable(chain, { pause, historyOf })
    const marks = await snapshot.marks()
    const status = readStatus()
    const isOver = clock.now() >= lastMoment
    // A first backfill has gaps by its nature, and says so; level with the node, it is complete within a moment. Otherwise a
    // status that is not there yet may be older than the view: from before a reorg, or from before the end of the first backfill.
    const isKnown = marks.backfilled
      ? isSettled(marks, status, isOver)
      : isOver || !(await isLevel(snapshot, status))
    if (isKnown) return { snapshot, status }
    await snapshot.close()
    if (marks.backfilled && !marks.settled && (status.phase === 'stalled' || isOver)) throw notHeard(status)
    await sleep(pollMs, undefined, { signal })
  }
}

function isSettled({ settled }: IndexMarks, status: SyncStatus, isOver: boolean): boolean {
  return settled && (isOver || !isOnItsWay(status))
}

/**
 * Returns whether a history that was read in this state of the index may be answered now, by the rules of `openSettled` and
 * `requireReady`. Where it may not, these say why, or wait.
 */
export function isCurrent(
  { marks, range }: IndexState,
  status: SyncStatus,
  { isFirstPage, ...rules }: ReadinessRules & { readonly isFirstPage: boolean }
): boolean {
  if (status.indexUnusable) return false
  const why = whyNotReady(withIndex(status, { ...marks, range }), rules)
  return isFirstPage ? why === undefined && isSettled(marks, status, false) : why !== 'backfill'
}

/**
 * Lets an answer that shows the newest state pass only while the index follows its node: what is unknown must not appear
 * as nothing.
 *
 * @throws {Refusal} UPSTREAM_UNAVAILABLE.
 */
export function requireFollowing(status: SyncStatus): void {
  if (status.phase !== 'following') throw notHeard(status)
}

/**
 * Lets a history pass only while `whyNotReady` finds nothing against it, as the chain's status says; a page with `before`
 * also while the node is silent, because it needs only the index.
 *
 * @throws {Refusal} NOT_SYNCED or UPSTREAM_UNAVAILABLE.
 */
export async function requireReady(
  snapshot: StatusReader,
  status: SyncStatus,
  { isFirstPage, ...rules }: ReadinessRules & { readonly isFirstPage: boolean }
): Promise<void> {
  const why = whyNotReady(await readStatus(snapshot, status), rules)
  if (why === 'backfill') throw await notBackfilled(snapshot, status)
  if (why !== undefined && isFirstPage) throw notHeard(status)
}

/**
 * Lets an answer pass only once the index has reached the head, and, without `serveWhileSyncing`, the block that it is to begin at.
 *
 * @throws {Refusal} as `notBackfilled`.
 */
export async function requireSynced(
  snapshot: StatusReader,
  status: SyncStatus,
  serveWhileSyncing: boolean
): Promise<void> {
  const why = whyNotReady(await readStatus(snapshot, status), { serveWhileSyncing, nowMs: 0 })
  if (why === 'backfill') throw await notBackfilled(snapshot, status)
}

/** Puts what the view shows of the index in place of what its indexer last reported. */
async function readStatus(snapshot: StatusReader, status: SyncStatus): Promise<SyncStatus> {
  return withIndex(status, { ...(await snapshot.marks()), range: await snapshot.indexedRange() })
}

/** Reports whether a first backfill has stored the newest block that is known of the node: a status names no lag then. */
async function isLevel(snapshot: StatusReader, status: SyncStatus): Promise<boolean> {
  const range = await snapshot.indexedRange()
  return range !== undefined && headOf(status, range) === range.to.number
}

/** Returns the head as a status would name it that is read from this view: the indexer may have reported less. */
function headOf({ head, indexedTo }: SyncStatus, range: IndexedRange | undefined): number | undefined {
  return newestHead({ ...present({ head }), indexedTo: indexedTo?.number }, range).head
}

function isOnItsWay({ phase }: SyncStatus): boolean {
  return phase === 'starting' || phase === 'backfilling'
}

/** During the first backfill there is nothing to wait for: that may take days. */
function isCatchingUp(status: SyncStatus): boolean {
  return isOnItsWay(status) && (status.phase === 'starting' || status.backfilled)
}

function notHeard(status: SyncStatus): Refusal {
  return new Refusal('UPSTREAM_UNAVAILABLE', sentenceOn(status.chainId, whyNotCurrent(status)), {})
}

/** Words why the newest state is not known, and what helps. */
function whyNotCurrent({ phase, problem }: SyncStatus): string {
  if (problem !== undefined) return problem
  if (phase === 'starting')
    return 'the server has just started, and its node has not answered yet; try again in a moment'
  if (phase === 'following')
    return "the node's transaction pool has not been read lately; try again in a moment"
  return 'the index is being brought up to date after a start or a reorg; try again in a moment'
}

/** Begins with the chain, which problems of nodes name too. */
function sentenceOn(chainId: number, text: string): string {
  return `Chain ${chainId}: ${text.replace(/^chain \d+: /, '').replace(/\.$/, '')}.`
}

/**
 * Makes the refusal of a chain whose index has not all blocks yet: NOT_SYNCED with how far it is, so that "none" always means
 * none; UPSTREAM_UNAVAILABLE while its node has never answered.
 */
export async function notBackfilled(snapshot: StatusReader, status: SyncStatus): Promise<Refusal> {
  const { chainId, phase, problem } = status
  const range = await snapshot.indexedRange()
  const head = headOf(status, range)
  if (head === undefined) return notHeard(status)
  const indexedTo = range?.to.number
  const { startBlock } = status
  const isBackfilling = range !== undefined && range.from > (startBlock ?? range.from) && indexedTo === head
  const reached =
    indexedTo === undefined
      ? 'not indexed yet'
      : isBackfilling
        ? `indexed from block ${range.from} on, and older blocks are still being added, down to ${startBlock}`
        : `indexed up to block ${indexedTo} of ${head}`
  const stalled = phase === 'stalled' && problem !== undefined ? ` It is stalled: ${problem}` : ''
  return new Refusal('NOT_SYNCED', `Chain ${chainId} is ${reached}.${stalled}`, {
    head,
    ...(indexedTo === undefined ? {} : { indexedTo })
  })
}

/** Wait for an index or node that moves to another branch: one follows the other within seconds. */
const moveWaitMs = 5_000
const movePauseMs = 200

/**
 * Repeats work that fails because index and node are not at the same block: one of the two moves within a moment.
 *
 * @throws the last failure, after some seconds, and any other failure at once.
 */
export async function retryWhileMoving<T>(
  signal: AbortSignal,
  isMoving: (error: unknown) => boolean,
  work: () => Promise<T>
): Promise<T> {
  for (const lastMoment = steadyClock.now() + moveWaitMs; ; ) {
    try {
      return await work()
    } catch (error) {
      if (!isMoving(error) || steadyClock.now() >= lastMoment) throw error
      await sleep(movePauseMs, undefined, { signal })
    }
  }
}

/** Returns what an answer from this snapshot covers. */
export async function coverageOf(
  chainId: number,
  snapshot: StatusReader,
  below: CoverageBelow
): Promise<AnswerCoverage> {
  const range = await snapshot.indexedRange()
  return coverageIn(chainId, { range, coverage: await snapshot.coverage() }, below)
}

/** Returns what an answer covers that is read from an index in this state. */
export function coverageIn(
  chainId: number,
  { range, coverage }: Pick<IndexState, 'range' | 'coverage'>,
  below: CoverageBelow
): AnswerCoverage {
  if (range === undefined) return { chainId }
  return {
    ...{ chainId, from: range.from, to: range.to.number },
    ...knownFrom(range.from, coverage),
    ...(range.from === 0 ? {} : below)
  }
}

/**
 * Returns from which blocks on the index knows what happened in transactions, and the blocks of which it does not know all, in
 * the words of the wire; absent: of none.
 * @param indexedFrom - first block of the index.
 */
export function knownFrom(
  indexedFrom: number,
  { tracedFrom, unknown }: IndexCoverage
): Pick<HistoryCertificate['covers'], 'transfersFrom' | 'internalFrom' | 'operationsFrom' | 'unknownBlocks'> {
  const knownFrom = Math.max(indexedFrom, (unknown?.at(-1)?.to ?? -1) + 1)
  return {
    transfersFrom: knownFrom,
    ...(tracedFrom !== undefined && { internalFrom: tracedFrom }),
    operationsFrom: knownFrom,
    ...(unknown && { unknownBlocks: unknown.map(span => ({ ...span })) })
  }
}
