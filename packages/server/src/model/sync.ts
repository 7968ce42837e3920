import type { BlockRef, IndexIntegrity, Integrity, SyncStatus } from '@chain-data/index'

/** Shows the integrity of an index. @param checkedFrom - as a snapshot has it, where there is one. */
export function showIntegrity(
  { checkedBlocks: _, passDone, passEndedAtMs, ...found }: Partial<IndexIntegrity> = {},
  checkedFrom = found.checkedFrom
): Integrity {
  return {
    ...found,
    ...(checkedFrom !== undefined && { checkedFrom }),
    ...(passDone !== undefined && { passDone: Math.floor(passDone * 1_000) / 1_000 }),
    ...(passEndedAtMs !== undefined && { passEndedAt: Math.floor(passEndedAtMs / 1_000) })
  }
}

/**
 * State of a chain at one moment. The wire, the health pages and the metrics all show this one, so that they cannot
 * contradict each other.
 */
export interface ChainState extends SyncStatus {
  /** Histories are answered. */
  readonly ready: boolean
  /** The index has the blocks that histories wait for: the newest ones, and older ones where the host wants that. */
  readonly backfilled: boolean
  /** The chain is stalled, its node went back to a head below the index, or final blocks were replaced lately. */
  readonly degraded: boolean
  /** Age of the head block by its timestamp; absent where that is not known. */
  readonly headAgeSeconds?: number
  /** 0 while the head is below the index; absent while one of the two is not known. */
  readonly lagBlocks?: number
  /** Blocks by which the head is below the index; absent where it is not. */
  readonly headBelowIndexBlocks?: number
  /** How long the chain has been stalled, or its pool unseen, so that histories are refused. */
  readonly stalledSeconds?: number
  /** The backfill of blocks older than the index; absent where there are none to add. */
  readonly backfill?: Backfill
}

/** Blocks older than the index that are being added to it. */
export interface Backfill {
  /** Lowest block to add. */
  readonly to: number
  readonly blocksLeft: number
  /** Absent where it is not known. */
  readonly expectedSeconds?: number
  /** Why they cannot be had. Never holds a URL. */
  readonly problem?: string
}

/** State of a Solana cluster's node at one moment; nothing of the cluster is indexed. */
export interface SolanaState {
  /** Chain id that callers name the cluster by: 101 for mainnet-beta, 102 for testnet, 103 for devnet. */
  readonly chainId: number
  /** `starting` until the first check has ended; `stalled` while the node does not answer, or has named no newer slot for a minute. */
  readonly phase: 'starting' | 'following' | 'stalled'
  /** The node answered the last check. */
  readonly ready: boolean
  /** The cluster is stalled. */
  readonly degraded: boolean
  /** Newest slot the node has named. */
  readonly head?: number
  /** Time since this server first saw that slot. */
  readonly headAgeSeconds?: number
  /** Time since the node last answered a check. */
  readonly answeredSecondsAgo?: number
  /** How long it has been stalled; absent while it is not. */
  readonly stalledSeconds?: number
  /** Why it is stalled. Never holds a URL. */
  readonly problem?: string
}

/** The problems that a status or state of a chain may name. */
export interface Troubled {
  readonly problem?: string
  readonly backfillProblem?: string
  readonly backfill?: Backfill
  readonly integrity?: { readonly problem?: string }
}

/** Rewords every problem that a status or state names. */
export function mapProblems<State extends Troubled>(state: State, word: (problem: string) => string): State {
  const { backfillProblem, backfill, integrity } = state
  const reword = <Holder extends { readonly problem?: string }>(holder: Holder) =>
    holder.problem === undefined ? holder : { ...holder, problem: word(holder.problem) }
  return {
    ...reword(state),
    ...(backfillProblem !== undefined && { backfillProblem: word(backfillProblem) }),
    ...(backfill && { backfill: reword(backfill) }),
    ...(integrity && { integrity: reword(integrity) })
  }
}

/** The pool is read every second or so, every ten at most; when the last read is older, it is not known what is pending. */
const poolFreshMs = 15_000

/** Facts by which histories are answered or refused. */
export interface ReadinessRules {
  /** `Date.now()`. */
  readonly nowMs: number
  /** Histories are answered while blocks older than the index are being added. */
  readonly serveWhileSyncing: boolean
}

/** Status of a chain as far as its readiness depends on it. */
export type ReadinessFacts = Pick<
  SyncStatus,
  'backfilled' | 'phase' | 'poolSeenAtMs' | 'indexedFrom' | 'startBlock'
>

/**
 * Returns why histories of a chain are refused: its index has not reached the head yet, or not the block that it is to begin at
 * where that is waited for, it does not follow the node, or its pool was not seen recently; `undefined` while they are answered.
 */
export function whyNotReady(
  { backfilled, phase, poolSeenAtMs, indexedFrom, startBlock = indexedFrom }: ReadinessFacts,
  { nowMs, serveWhileSyncing }: ReadinessRules
): 'backfill' | 'node' | 'pool' | undefined {
  if (!backfilled || (!serveWhileSyncing && indexedFrom > startBlock)) return 'backfill'
  // What is unknown must not appear as nothing.
  if (phase !== 'following') return 'node'
  // After the clock was set back, a poll seems to lie ahead: how old it is cannot be told until the next one.
  const isFresh = poolSeenAtMs !== undefined && Math.abs(nowMs - poolSeenAtMs) <= poolFreshMs
  return isFresh ? undefined : 'pool'
}

/** Derives the state of a chain from its status. */
export function toChainState(status: SyncStatus, rules: ReadinessRules): ChainState {
  const { head, headTimestampSeconds, indexedTo, phase, poolSeenAtMs } = status
  const { nowMs } = rules
  const why = whyNotReady(status, rules)
  const ahead = head === undefined || indexedTo === undefined ? undefined : head - indexedTo.number
  const isBelow = ahead !== undefined && ahead < 0
  const poolStaleSinceMs = poolSeenAtMs === undefined ? undefined : poolSeenAtMs + poolFreshMs
  const refusedSinceMs = status.stalledSinceMs ?? (why === 'pool' ? poolStaleSinceMs : undefined)
  const problem = status.problem ?? (why === 'pool' ? poolProblem : undefined)
  const backfill = toBackfill(status)
  return {
    ...status,
    ...(backfill && { backfill }),
    ready: why === undefined,
    backfilled: why !== 'backfill',
    degraded: status.degraded || phase === 'stalled' || isBelow,
    ...(headTimestampSeconds !== undefined && {
      headAgeSeconds: secondsSince(headTimestampSeconds * 1_000, nowMs)
    }),
    ...(ahead !== undefined && { lagBlocks: Math.max(0, ahead) }),
    ...(isBelow && { headBelowIndexBlocks: -ahead }),
    ...(refusedSinceMs !== undefined && { stalledSeconds: secondsSince(refusedSinceMs, nowMs) }),
    ...(problem !== undefined && { problem })
  }
}

function toBackfill({
  indexedFrom,
  indexedTo,
  startBlock = indexedFrom,
  backfillSeconds: expectedSeconds,
  backfillProblem: problem
}: SyncStatus): Backfill | undefined {
  if (indexedTo === undefined || indexedFrom <= startBlock) return undefined
  return {
    ...{ to: startBlock, blocksLeft: indexedFrom - startBlock },
    ...(expectedSeconds !== undefined && { expectedSeconds }),
    ...(problem !== undefined && { problem })
  }
}

const poolProblem = `the node's transaction pool has not been read for ${poolFreshMs / 1_000} s`

/** Returns whole seconds; 0 where the clock was set back. */
export function secondsSince(thenMs: number, nowMs: number): number {
  return Math.max(0, Math.floor((nowMs - thenMs) / 1_000))
}

/** Range of an index, as a snapshot of the store shows it. */
interface IndexRange {
  readonly from: number
  readonly to: BlockRef
  readonly toTimestampSeconds: number
}

/** Contents of an index, as a snapshot of the store shows them. */
export interface IndexFacts {
  readonly backfilled: boolean
  /** Final blocks were removed; see `SyncStatus`. */
  readonly degraded: boolean
  /** Absent while nothing is indexed. */
  readonly range?: IndexRange | undefined
}

/** Puts what the index itself shows in place of what its indexer last reported of it. */
export function withIndex(reported: SyncStatus, { backfilled, degraded, range }: IndexFacts): SyncStatus {
  const { indexedTo, ...status } = { ...reported, backfilled, degraded }
  if (range === undefined) return status
  const newest = newestHead({ ...status, indexedTo: indexedTo?.number }, range)
  return { ...status, ...newest, indexedFrom: range.from, indexedTo: range.to }
}

/**
 * Returns the newest block that is known of a node: where the index has grown since its indexer reported, that is at least
 * the newest indexed block.
 *
 * @param reported.indexedTo - height of the index when the head was reported.
 */
export function newestHead(
  reported: Partial<Pick<SyncStatus, 'head' | 'headTimestampSeconds'>> & {
    readonly indexedTo?: number | undefined
  },
  range: IndexRange | undefined
): Partial<Pick<SyncStatus, 'head' | 'headTimestampSeconds'>> {
  const { head, headTimestampSeconds, indexedTo = -1 } = reported
  if (head === undefined) return {}
  const top = range?.to.number ?? -1
  if (range !== undefined && (top === head || top > Math.max(head, indexedTo))) {
    return { head: top, headTimestampSeconds: range.toTimestampSeconds }
  }
  return { head, ...(headTimestampSeconds !== undefined && { headTimestampSeconds }) }
}
