import type { DeepSource } from '../../model/deepHistory.ts'
import { plural } from '../../platform/plural.ts'

/** How a node answers for older history, and for whose. */
const deepWays: Readonly<Record<Exclude<DeepSource, 'none'>, string>> = {
  ots: 'of every account, by ots_searchTransactionsBefore',
  trace_filter: 'of every account, by trace_filter',
  state: 'by its old states: of accounts with a key, all but receipts of no value that log nothing'
}

/** The indexer reads 32 blocks at the same time, each by two calls one after the other. */
const callsPerBlock = 2 / 32
/** What an index costs at least, however quick the node is. */
const leastBlockMs = 0.5
/** A backfill that is longer is not begun unasked. */
const patienceSeconds = 6 * 3_600

/**
 * Chooses the first block to index: the oldest one of the node where all of them are read in some hours, else the newest
 * final one. `whole` is the other choice of a chain that would take longer.
 */
export function chooseStart({
  head,
  oldestBlock,
  olderHistory,
  blockMs = 50
}: {
  /** The newest block. */
  readonly head: number
  readonly oldestBlock?: number | undefined
  readonly olderHistory: DeepSource
  readonly blockMs?: number | undefined
}): {
  readonly settings: { readonly startBlock: number | 'latest'; readonly deepHistory?: 'node' }
  readonly why: readonly string[]
  readonly whole?: { readonly startBlock: number }
} {
  const newest = 'The index begins at the newest final block'
  const settings = { startBlock: 'latest' } as const
  if (oldestBlock === undefined) {
    return { settings, why: [`${newest}, since it is not known which older blocks the node has.`] }
  }
  const blocks = head - oldestBlock + 1
  const seconds = (blocks * Math.max(leastBlockMs, callsPerBlock * blockMs)) / 1_000
  const cost = `${plural(blocks.toLocaleString('en-US'), 'block')}, ${formatSeconds(seconds)} at the speed of this node`
  const pruned = `The node has dropped its blocks below ${oldestBlock}, so no history reaches further back.`
  const ends = oldestBlock === 0 ? [] : [pruned]
  if (seconds <= patienceSeconds) {
    const why = [`The index begins at block ${oldestBlock}: ${cost}.`, ...ends]
    return { settings: { startBlock: oldestBlock }, why }
  }
  const quick = `${newest}, so that it is ready in minutes. From block ${oldestBlock} on it would read ${cost}.`
  const whole = { startBlock: oldestBlock }
  // What a node has dropped it cannot give on demand either.
  if (olderHistory !== 'none' && oldestBlock === 0) {
    const deep = `Older history is read from the node when it is asked for (deepHistory), ${deepWays[olderHistory]}.`
    return { settings: { ...settings, deepHistory: 'node' }, why: [quick, deep], whole }
  }
  const lost = 'Older history is not shown, nor tokens that were received before'
  const how =
    ': this node does not list the transactions of an address, and has no old states. With "deepHistory": "node" tokens are found by their old logs, slowly'
  return { settings, why: [quick, `${lost}${olderHistory === 'none' ? how : ''}.`, ...ends], whole }
}

function formatSeconds(seconds: number): string {
  if (seconds < 90) return 'a minute or so'
  if (seconds < 5_400) return `about ${Math.round(seconds / 60)} minutes`
  if (seconds < 48 * 3_600) return `about ${Math.round(seconds / 3_600)} hours`
  return `about ${Math.round(seconds / 86_400)} days`
}
