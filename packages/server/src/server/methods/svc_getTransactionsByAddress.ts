import type {
  Address,
  ChangeBounds,
  Hash,
  HistoryReader,
  IndexState,
  PendingTransaction,
  PoolReader,
  StoreReader,
  SyncStatus
} from '@chain-data/index'
import type { TransactionPosition } from '@chain-data/index/record'
import type { HistoryPage } from '@chain-data/protocol'
import type { AnswerCoverage } from '../../model/coverage.ts'
import type { FormatAddress } from '../../platform/addressFormat.ts'
import type { Clock } from '../../platform/clock.ts'
import { present } from '../../platform/present.ts'
import { Refusal } from '../../platform/refusal.ts'
import { coverageBelow } from './coverageBelow.ts'
import { type ConfirmedPage, createPageTexts, type HistoryView } from './createPageTexts.ts'
import { attachedTo, createRecordWriter, toTransactionRecord } from './createRecordWriter.ts'
import { formatCursor } from './cursor.ts'
import {
  chainOf,
  type Handlers,
  type MethodContext,
  type ResultChunk,
  ResultStream,
  ResultText
} from './MethodContext.ts'
import { type BelowIndex, joinBelow, type MissingBelow, type OlderHistory } from './OlderHistory.ts'
import { coverageIn, coverageOf, isCurrent, openSettled, openUsable, requireReady } from './requireCurrent.ts'

/** The sources of one chain's transaction history. */
interface HistoryChain {
  readonly chainId: number
  readonly reader: Pick<StoreReader, 'openSnapshot' | 'unchangedState'>
  /** Absent: history older than the index is not answered. */
  readonly older?: OlderHistory | undefined
  status(): SyncStatus
}

export interface HistoryOptions {
  readonly chains: ReadonlyMap<number, HistoryChain>
  /** Maximum of records of an answer without `limit`; null: no bound. */
  readonly maxUnpaged: number | null
  /** Answer from what is indexed while the first backfill still runs. */
  readonly serveWhileSyncing: boolean
  /** Bytes of pages kept in memory; absent: none. */
  readonly cacheBytes?: number
  readonly formatAddress: FormatAddress
  readonly clock: Clock
}

/**
 * Answers the transactions associated with an address, pending ones first, then newest first; all of them come from one
 * snapshot of the index, which stays open until the answer is written.
 */
export function createGetTransactionsByAddress(
  options: HistoryOptions
): Handlers['svc_getTransactionsByAddress'] {
  const { chains, maxUnpaged, serveWhileSyncing, cacheBytes = 0, formatAddress, clock } = options
  const writeRecords = createRecordWriter(formatAddress)
  const pageTexts = createPageTexts({ write: writeRecords, bytes: cacheBytes })
  /** Coverage and cursor of answers that are read in a state of an index. */
  const reports = new WeakMap<IndexState, { readonly coverage: AnswerCoverage; readonly cursor: string }>()

  return ([anyCaseAddress, page = {}], context) => {
    const chain = chainOf(chains, context)
    const address = anyCaseAddress.toLowerCase() as Address
    return findUnchanged(chain, address, page, context) ?? readHistory(chain, address, page, context)
  }

  async function readHistory(
    chain: HistoryChain,
    address: Address,
    page: HistoryPage,
    context: MethodContext
  ): Promise<ResultStream | ResultText> {
    for (;;) {
      const opened = await openHistory(chain, address, page, context)
      if (opened instanceof ResultStream || opened instanceof ResultText) return opened
      await opened.read()
    }
  }

  /** @returns a kept page, if nothing at all was committed to the index since it was read. */
  function findUnchanged(
    chain: HistoryChain,
    address: Address,
    page: HistoryPage,
    context: MethodContext
  ): ResultText | undefined {
    const asked = namePage(chain.chainId, address, page)
    const status = chain.status()
    // The status says best why an index cannot be used.
    if (!hasLimit(asked) || status.indexUnusable) return undefined
    const kept = pageTexts.kept(asked)
    if (kept?.version === undefined) return undefined
    const state = chain.reader.unchangedState(context.cameMs)
    if (state?.version !== kept.version) return undefined
    // What is older than the index comes from nodes.
    if (chain.older !== undefined && state.range?.from !== 0) return undefined
    const rules = { isFirstPage: page.before === undefined, serveWhileSyncing, nowMs: clock.now() }
    if (!isCurrent(state, status, rules)) return undefined
    let report = reports.get(state)
    if (report === undefined) {
      const coverage = coverageIn(chain.chainId, state, { deepHistory: 'none' })
      report = { coverage, cursor: cursorOf(state.changes) }
      reports.set(state, report)
    }
    context.onCoverage?.(report.coverage)
    if (rules.isFirstPage) context.onCursor?.(report.cursor)
    return kept.text
  }

  /** @returns the read that is needed first, where history older than the index is missing. */
  async function openHistory(
    chain: HistoryChain,
    address: Address,
    page: HistoryPage,
    context: MethodContext
  ): Promise<ResultStream | ResultText | MissingBelow> {
    const { chainId, older } = chain
    const isFirstPage = page.before === undefined
    const { snapshot, status } = isFirstPage
      ? await openSettled(chain, { ...context, historyOf: address })
      : await openUsable(chain, context)
    let isOpen = false
    try {
      context.signal.throwIfAborted()
      await requireReady(snapshot, status, { isFirstPage, serveWhileSyncing, nowMs: clock.now() })
      const source = older ? await older.whoAnswers(snapshot, context.signal) : 'none'
      const isAnswered = source !== 'none' || older?.isStrict === true
      const below = isAnswered ? await older?.open(snapshot, address, status, context) : undefined
      const { from: indexedFrom = 0 } = (await snapshot.indexedRange()) ?? {}
      const asked = {
        ...{ ...namePage(chainId, address, page), isDeep: below !== undefined, indexedFrom },
        ...(await openPage(snapshot, below, address, page, chainId))
      }
      const missing = await requireWhole(snapshot, below, asked, maxUnpaged)
      if (missing !== undefined) return missing
      if (isFirstPage) context.onCursor?.(cursorOf(await snapshot.changeBounds()))
      context.onCoverage?.(await coverageOf(chainId, snapshot, await coverageBelow(source, below)))
      const view = below === undefined ? snapshot : joinBelow(snapshot, below)
      const found =
        asked.pending.length === 0 && hasLimit(asked)
          ? ((await pageTexts.find(view, asked)) ?? (await pageTexts.read(view, asked)))
          : readRecords(view, asked)
      if (found instanceof ResultText) return found
      isOpen = true
      return new ResultStream(found, () => snapshot.close())
    } finally {
      if (!isOpen) await snapshot.close()
    }
  }

  async function* readRecords(
    view: HistoryView,
    { address, pending, limit, olderThan, attached }: AskedPage
  ): AsyncGenerator<ResultChunk> {
    const shown = pending.slice(0, limit)
    if (shown.length > 0) yield shown.map(transaction => toTransactionRecord(transaction, formatAddress))
    const left = limit === undefined ? undefined : limit - shown.length
    if (left === 0) return
    for await (const chunk of view.records(address, present({ olderThan, limit: left }))) {
      yield writeRecords(chunk, attached).toString('latin1')
    }
  }
}

/** Names the position that an answer is read at, from which a stream of events goes on. */
function cursorOf({ log, newest }: ChangeBounds): string {
  return formatCursor({ log, position: newest })
}

function namePage(chainId: number, address: Address, page: HistoryPage) {
  const before = page.before?.toLowerCase() as Hash | undefined
  return { chainId, address, limit: page.limit, before, attached: attachedTo(address, page) }
}

interface Page extends Pick<ConfirmedPage, 'olderThan'> {
  readonly pending: readonly PendingTransaction[]
}

interface AskedPage extends Page, Omit<ConfirmedPage, 'limit'> {
  /** Absent: no bound. */
  readonly limit: number | undefined
}

function hasLimit<Asked extends { readonly limit: number | undefined }>(
  asked: Asked
): asked is Asked & { readonly limit: number } {
  return asked.limit !== undefined
}

/** Opens a page: the first begins with what is pending; a later one after the record that `before` names. */
async function openPage(
  snapshot: HistoryReader & PoolReader,
  below: BelowIndex | undefined,
  address: Address,
  { before }: HistoryPage,
  chainId: number
): Promise<Page> {
  if (before === undefined) {
    const pending = await snapshot.pending(address)
    return { pending, olderThan: undefined }
  }
  const found = await snapshot.lookUpHash(before.toLowerCase() as Hash)
  switch (found.kind) {
    case 'confirmed':
      return { pending: [], olderThan: found.position }
    case 'reorged': {
      const { number: blockNumber, hash: blockHash } = found.commonAncestor
      throw new Refusal(
        'CURSOR_REORGED',
        `The transaction given as before is no longer part of chain ${chainId}.`,
        {
          lastCommonBlock: { blockNumber, blockHash }
        }
      )
    }
    case 'unknown': {
      const olderThan = await below?.lookUpHash(before.toLowerCase() as Hash)
      if (olderThan !== undefined) return { pending: [], olderThan }
      throw new Refusal('INVALID_PARAMS', '/params/1/before must be the hash of a confirmed transaction.', {
        path: '/params/1/before'
      })
    }
  }
}

/**
 * Checks that a page is whole before anything is sent: a list is never cut silently, and history older than the index may
 * take longer to read than a call.
 * @returns the read that is needed before the page is whole.
 */
async function requireWhole(
  snapshot: HistoryReader,
  below: BelowIndex | undefined,
  { address, limit, pending, olderThan }: AskedPage,
  maxUnpaged: number | null
): Promise<MissingBelow | undefined> {
  const isBounded = limit === undefined && maxUnpaged !== null
  if (below === undefined && !isBounded) return undefined
  if (limit === undefined && maxUnpaged === null) return below?.missing(olderThan)
  const wanted = Math.max(0, (limit ?? (maxUnpaged ?? 0) + 1) - pending.length)
  const indexed =
    olderThan === undefined
      ? await snapshot.countHistory(address, wanted)
      : await countOlder(snapshot, address, wanted, olderThan)
  const missing = await below?.missing(olderThan, wanted - indexed)
  if (missing !== undefined || !isBounded) return missing
  const found = indexed + ((await below?.count(olderThan, wanted - indexed)) ?? 0)
  if (pending.length + found <= maxUnpaged) return undefined
  throw new Refusal(
    'TOO_MANY_RESULTS',
    `The history has more than ${maxUnpaged} records: ask for pages with limit and before.`,
    { maxUnpaged }
  )
}

async function countOlder(
  snapshot: HistoryReader,
  address: Address,
  limit: number,
  olderThan: TransactionPosition
): Promise<number> {
  let count = 0
  for await (const { ids } of snapshot.records(address, { olderThan, limit })) count += ids.length
  return count
}
