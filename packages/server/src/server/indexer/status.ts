import { ChainDataError, StoreLostError, type StoreWriter, type SyncStatus } from '@chain-data/index'
import { lowestStart, type StartBlock, wantedStart } from '../../model/startBlock.ts'
import { nextStepFor } from '../../nodes/upstreams/nextSteps.ts'
import { describeResource } from '../../platform/describeCause.ts'
import type { Logger } from '../../platform/logger.ts'
import { present } from '../../platform/present.ts'
import { scrubText } from '../../platform/scrubText.ts'

/** Makes the status of a chain of which nothing is known yet. */
export function startingStatus(chainId: number, startBlock: StartBlock): SyncStatus {
  return {
    ...{ chainId, phase: 'starting', indexedFrom: lowestStart(startBlock), ...wantedStart(startBlock) },
    ...{ backfilled: false, degraded: false, poolCovered: false }
  }
}

/** `undefined` takes an optional member away. */
type SyncChange = { readonly [Name in keyof SyncStatus]?: SyncStatus[Name] | undefined }

/** The status of one indexer. */
export interface StatusBoard {
  read(): SyncStatus
  change(change: SyncChange): void
  /**
   * Shows the index as one that cannot be used, and the chain as stalled for this reason, whatever is changed meanwhile, until
   * it is called without one.
   */
  holdUnusable(problem?: string): void
  /**
   * Calls `onChange` after every change that changed something, with the whole status.
   * @returns ends that.
   */
  watch(onChange: (status: SyncStatus) => void): () => void
}

export function createStatusBoard(initial: SyncStatus): StatusBoard {
  /** As changed, and as shown. */
  let changed = initial
  let current = initial
  let held: string | undefined
  const watchers = new Set<(status: SyncStatus) => void>()

  function change(change: SyncChange): void {
    const entries = Object.entries({ ...changed, ...change }).filter(([, value]) => value !== undefined)
    changed = dateStall(Object.fromEntries(entries) as unknown as SyncStatus, changed)
    const next =
      held === undefined
        ? changed
        : dateStall({ ...changed, phase: 'stalled', indexUnusable: true, problem: held }, current)
    if (JSON.stringify(next) === JSON.stringify(current)) return
    current = next
    for (const onChange of watchers) onChange(next)
  }

  return {
    read: () => current,
    change,
    holdUnusable(problem) {
      held = problem
      change({})
    },
    watch(onChange) {
      watchers.add(onChange)
      return () => void watchers.delete(onChange)
    }
  }
}

/**
 * Notes since when a chain has been stalled. Another attempt does not end that: a stored block does, and an index that is
 * level with its node. Only a stalled chain has an index that cannot be used.
 */
export function dateStall(next: SyncStatus, before: SyncStatus): SyncStatus {
  const { stalledSinceMs, indexUnusable, ...undated } = next
  const sinceMs = before.stalledSinceMs ?? stalledSinceMs
  if (next.phase === 'stalled') {
    return { ...undated, ...present({ indexUnusable }), stalledSinceMs: sinceMs ?? Date.now() }
  }
  const hasMoved = next.phase === 'following' || next.indexedTo?.hash !== before.indexedTo?.hash
  return hasMoved || sinceMs === undefined ? undated : { ...undated, stalledSinceMs: sinceMs }
}

const intervalMs = 100

/**
 * Passes statuses on: at once when the phase, the problem or a mark changes, and with each new block of a chain that is
 * followed; otherwise the newest one at most every 100 ms. `flush` passes on what still waits.
 */
export function throttleStatus(receive: (status: SyncStatus) => void): {
  send(status: SyncStatus): void
  flush(): void
} {
  let waiting: SyncStatus | undefined
  let last: SyncStatus | undefined
  let timer: NodeJS.Timeout | undefined

  function flush() {
    clearTimeout(timer)
    timer = undefined
    if (waiting === undefined) return
    last = waiting
    waiting = undefined
    receive(last)
  }

  return {
    send(status) {
      waiting = status
      if (isNews(status, last) || isNewBlock(status, last)) flush()
      else timer ??= setTimeout(flush, intervalMs).unref()
    },
    flush
  }
}

/** Tells whether a status is to be passed on at once. */
function isNews(status: SyncStatus, last: SyncStatus | undefined): boolean {
  return (
    status.phase !== last?.phase ||
    status.problem !== last?.problem ||
    status.backfilled !== last?.backfilled ||
    status.degraded !== last?.degraded ||
    status.rollingBackTo !== last?.rollingBackTo ||
    status.waiting !== last?.waiting
  )
}

/** A backfill stores many blocks a second; of a chain that is followed each one counts. */
function isNewBlock({ phase, indexedTo }: SyncStatus, last: SyncStatus | undefined): boolean {
  return phase === 'following' && indexedTo?.hash !== last?.indexedTo?.hash
}

/** Change of the status of a chain that `error` keeps from moving. @param blockNumber - the block that could not be read. */
export function stalledBy(error: unknown, blockNumber?: number): SyncChange {
  return {
    ...{ phase: 'stalled', problem: describeProblem(error, blockNumber), rollingBackTo: undefined },
    indexUnusable: error instanceof StoreLostError ? true : undefined
  }
}

const longestProblem = 300

/**
 * Words why a chain does not move, and the next step, for `SyncStatus.problem`; URLs, keys and paths are removed. Callers
 * see it without the step.
 * @param blockNumber - the block that could not be read; the text begins with it.
 */
export function describeProblem(error: unknown, blockNumber?: number): string {
  const text = describeResource(error) ?? describeError(error)
  const block = blockNumber === undefined ? '' : `block ${blockNumber}: `
  const step = error instanceof ChainDataError ? nextStepFor(error) : undefined
  const cause = scrubText(text.startsWith(block) ? text : block + text, longestProblem)
  return cause + (step === undefined ? '' : `; ${step}`)
}

function describeError(error: unknown): string {
  if (error instanceof ChainDataError) return withoutPaths(error.message)
  return `internal error: ${withoutPaths(String(error))}`
}

/** Removes absolute paths, which errors of the system quote. */
function withoutPaths(text: string): string {
  return text.replace(/(^|[\s'"(=])\/[^\s'"(),]+/g, '$1…')
}

/**
 * Writes reports of the writer into the store: one every `everyMs`, changed or not, and one at every news. A report that
 * cannot be written does not end the indexing: standby servers then show the writer as silent. One that finds the store lost
 * shows that at once: on a quiet chain nothing else writes.
 * @returns ends it: nothing is written any more.
 */
export function reportStatus(options: {
  readonly store: Pick<StoreWriter, 'report'>
  readonly board: StatusBoard
  readonly everyMs: number
  readonly logger: Logger
}): () => void {
  const { store, board, everyMs, logger } = options
  let last = board.read()
  let isFailing = false
  let isLost = false

  function write(): void {
    const { phase, head, headTimestampSeconds, finalized, indexedTo, rollingBackTo } = last
    const { poolCovered, poolSeenAtMs, problem } = last
    const report = {
      ...{ phase, poolCovered },
      ...present({ head, headTimestampSeconds, finalized }),
      ...(indexedTo === undefined ? {} : { indexedTo: indexedTo.number }),
      ...(rollingBackTo === undefined ? {} : { rollingBackTo }),
      ...(poolSeenAtMs === undefined ? {} : { poolAgeMs: Math.max(0, Date.now() - poolSeenAtMs) }),
      ...(problem === undefined ? {} : { problem })
    }
    store.report(report).then(
      () => {
        if (isLost) logger.info('the index can be used again')
        isLost = false
        isFailing = false
      },
      (error: unknown) => {
        if (error instanceof StoreLostError) {
          board.change(stalledBy(error))
          if (!isLost) logger.error('the index cannot be used', { problem: describeProblem(error) })
          isLost = true
        } else if (!isFailing) logger.warn('other servers cannot be told how the index stands', { error })
        isFailing = true
      }
    )
  }

  write()
  const timer = setInterval(write, everyMs).unref()
  const unwatch = board.watch(status => {
    const before = last
    last = status
    if (isNews(status, before)) write()
  })
  return () => {
    unwatch()
    clearInterval(timer)
  }
}
