import type { DeepSource } from '../../model/deepHistory.ts'

/** What decides where the index of a chain begins. */
interface StartFacts {
  /** The newest block. */
  readonly head: number
  /** The oldest block that the node has; 0: it has all; absent where that could not be found out. */
  readonly oldestBlock?: number
  /** What answers for history older than the index. */
  readonly olderHistory: DeepSource
  /** Milliseconds that one block takes to read; absent where it was not measured. */
  readonly blockMs?: number | undefined
}

/** Where the index begins, and why. */
export interface Start {
  readonly settings: { readonly startBlock: number | 'latest'; readonly deepHistory?: 'node' }
  /** Sentences for a person. */
  readonly why: readonly string[]
  /** Indexing everything that the node has, and what that takes; absent where that is what was chosen. */
  readonly whole?: { readonly startBlock: number; readonly cost: string }
}

/** How a node answers for older history, and for whose. */
const deepWays: Readonly<Record<Exclude<DeepSource, 'none'>, string>> = {
  ots: 'of every account, by ots_searchTransactionsBefore',
  trace_filter: 'of every account, by trace_filter',
  state: 'by its old states: of accounts with a key, all but receipts of no value that log nothing'
}

/** Blocks that the indexer reads at the same time, each by two calls one after the other. */
const blocksAtOnce = 32
const callsPerBlock = 2
/** What an index costs at least, however quick the node is. */
const leastBlockMs = 0.5
/** A backfill that is longer is not begun unasked. */
const patienceSeconds = 6 * 3_600
const usualBlockMs = 50

/**
 * Chooses the first block to index: the oldest one of the node where all of them are read in some hours, else the newest
 * final one.
 */
export function chooseStart(facts: StartFacts): Start {
  const { head, oldestBlock, olderHistory, blockMs = usualBlockMs } = facts
  // What a node has dropped it cannot give on demand either.
  const isDeep = olderHistory !== 'none' && oldestBlock === 0
  const newestOnly: Start['settings'] = { startBlock: 'latest', ...(isDeep ? { deepHistory: 'node' } : {}) }
  if (oldestBlock === undefined) {
    const why =
      'The index begins at the newest final block, since it is not known which older blocks the node has.'
    return { settings: newestOnly, why: [why] }
  }
  const blocks = head - oldestBlock + 1
  const seconds = (blocks * Math.max(leastBlockMs, (callsPerBlock * blockMs) / blocksAtOnce)) / 1_000
  const cost = `${formatCount(blocks)} blocks, ${formatSeconds(seconds)} at the speed of this node`
  const pruned = `The node has dropped its blocks below ${oldestBlock}, so no history reaches further back.`
  if (seconds <= patienceSeconds) {
    const all = `The index begins at block ${oldestBlock}: ${cost}.`
    const settings = { startBlock: oldestBlock }
    return { settings, why: oldestBlock === 0 ? [all] : [all, pruned] }
  }
  const newest = `The index begins at the newest final block, so that it is ready in minutes. From block ${oldestBlock} on it would read ${cost}.`
  const lost = 'Older history is not shown, nor tokens that were received before'
  const deep = isDeep
    ? `Older history is read from the node when it is asked for (deepHistory), ${deepWays[olderHistory]}.`
    : olderHistory !== 'none'
      ? `${lost}.`
      : `${lost}: this node does not list the transactions of an address, and has no old states. With "deepHistory": "node" tokens are found by their old logs, slowly.`
  return {
    settings: newestOnly,
    why: [newest, deep, ...(oldestBlock === 0 ? [] : [pruned])],
    whole: { startBlock: oldestBlock, cost }
  }
}

function formatCount(count: number): string {
  return count.toLocaleString('en-US')
}

function formatSeconds(seconds: number): string {
  if (seconds < 90) return 'a minute or so'
  if (seconds < 5_400) return `about ${Math.round(seconds / 60)} minutes`
  if (seconds < 48 * 3_600) return `about ${Math.round(seconds / 3_600)} hours`
  return `about ${Math.round(seconds / 86_400)} days`
}
