import type { MetadataCache } from '@chain-data/index'
import type { SolanaCallOptions } from '../../../nodes/solana/nodes.ts'
import type { SolanaRpc } from '../../../nodes/solana/rpc.ts'
import { openAbortScope } from '../../../platform/concurrency/deadline.ts'
import { NodeRpcError } from '../../../platform/errors.ts'
import { present as withValues } from '../../../platform/present.ts'
import { Refusal } from '../../../platform/refusal.ts'
import { checkContinuity, type Gap, type WalletBalances } from './checkContinuity.ts'
import { explainGaps } from './explainGaps.ts'
import { createHistoryCache, type HistoryCache } from './HistoryCache.ts'
import type { SolanaHistoryFigures } from './historyFigures.ts'
import type { SolanaHistoryRpc } from './historyRpc.ts'
import type { KeptTransaction } from './KeptTransaction.ts'
import { readBalances } from './readBalances.ts'
import { type Cursor, type HistoryPart, readHistory } from './readHistory.ts'
import { finalAfterSlots } from './signatureStream.ts'
import { TransactionReader } from './TransactionReader.ts'
import { joinSearched, keepNewest, newestOf, type WalletAccounts } from './walletAccounts.ts'
import { viewFromWallet, type WalletTransaction } from './walletView.ts'

interface SolanaHistoryQuery {
  /** Base58 of 32 bytes. */
  readonly wallet: string
  /** Absent: all. */
  readonly limit?: number | undefined
  readonly before?: string | undefined
  readonly until?: string | undefined
  readonly tokenAccounts: 'all' | 'none'
  /** Most transactions of an answer without `limit`; null: no bound. */
  readonly maxUnpaged: number | null
  readonly signal: AbortSignal
  readonly deadlineMs: number
}

interface LateAccount {
  readonly account: string
  readonly transactions: number
  readonly newest: string
  readonly oldest: string
}

/** A part of a wallet's history and what shows that nothing is missing from it. */
export interface SolanaHistory {
  readonly transactions: readonly WalletTransaction[]
  isFinalized(signature: string): boolean
  readonly gaps: readonly Gap[]
  /** Absent: no node says it. */
  readonly fromSlot?: number
  readonly toSlot: number
  readonly tokenAccounts: number
  /** Former token accounts were looked for down to this slot. */
  readonly closedFrom?: number
  readonly late: readonly LateAccount[]
  /** Balances of today, where the answer reaches up to them. */
  readonly balances?: WalletBalances
}

export interface SolanaHistoryReader {
  /**
   * Reads the history of a wallet and of its token accounts; nothing for an address never seen.
   *
   * @throws {Refusal} STILL_READING when the time did not suffice: what was read is kept. TOO_MANY_RESULTS, and INVALID_PARAMS for
   *   a cursor that no node knows.
   * @throws whatever {@link SolanaRpc} throws.
   * @remarks The newest page: 3 calls for the balances, one for each list (of the wallet and each token account), one for each
   *   transaction that is not kept, one for each slot with two of them. A page with `before`: none of these where it was read before.
   */
  readHistory(query: SolanaHistoryQuery): Promise<SolanaHistory>
}

/** A reader that counts what it reads. */
interface CountedReader extends SolanaHistoryReader {
  figures(): Pick<SolanaHistoryFigures, 'transactions'>
}

export interface SolanaHistoryOptions {
  readonly chainId: number
  readonly rpc: SolanaRpc
  readonly historyRpc: SolanaHistoryRpc
  readonly documents: MetadataCache
}

/** The part of a call's time after which nothing further is asked: the rest is for answering. */
const workingShare = 0.85
const retryAfterMs = 1_000

/** Reads histories from plain nodes; keeps finalised transactions and lists in a cache of documents. */
export function createSolanaHistory(options: SolanaHistoryOptions): CountedReader {
  const { chainId, rpc, historyRpc, documents } = options
  let opened: HistoryCache | undefined
  const transactions = { kept: 0, read: 0 }

  /** The chain id does not tell a development cluster from the one that it was before. */
  async function openCache(callOptions: SolanaCallOptions): Promise<HistoryCache> {
    if (opened !== undefined) return opened
    const genesis = await historyRpc.call('getGenesisHash', [], callOptions).catch(error => {
      if (error instanceof NodeRpcError) return ''
      throw error
    })
    opened = createHistoryCache(documents, `${chainId}:${String(genesis)}`)
    return opened
  }

  return {
    figures: () => ({ transactions: { ...transactions } }),

    async readHistory(query) {
      const scope = openAbortScope([query.signal])
      const progress = { slot: undefined as number | undefined, share: 0 }
      const outOfTime = new Error('the time of this call is over')
      const startMs = Date.now()
      scope.setDeadline((query.deadlineMs - startMs) * workingShare, () => outOfTime)
      try {
        const callOptions = { signal: scope.signal, deadlineMs: query.deadlineMs }
        return await read(query, await openCache(callOptions), callOptions, (slot, share) => {
          Object.assign(progress, { slot, share })
        })
      } catch (error) {
        if (scope.signal.reason !== outOfTime || query.signal.aborted) throw error
        const { slot, share } = progress
        if (slot !== undefined) throw stillReading(slot, share, Date.now() - startMs)
        const message = `The nodes of chain ${chainId} did not answer in time.`
        throw new Refusal('UPSTREAM_UNAVAILABLE', message, { retryAfterMs })
      } finally {
        scope.end()
      }
    }
  }

  function stillReading(slot: number, share: number, tookMs: number): Refusal {
    const percent = Math.min(99, Math.floor(share * 100))
    const expectedMs = share > 0.01 ? Math.round((tookMs / share) * (1 - share)) : undefined
    const left = expectedMs === undefined ? '' : `, about ${Math.ceil(expectedMs / 1000)} s left`
    return new Refusal(
      'STILL_READING',
      `The history on chain ${chainId} is still being read, down to slot ${slot} so far (${percent} %${left}).`,
      { retryAfterMs, progress: { reachedBlock: slot, percent, ...withValues({ expectedMs }) } }
    )
  }

  async function read(
    query: SolanaHistoryQuery,
    cache: HistoryCache,
    callOptions: SolanaCallOptions,
    onReached: (slot: number, share: number) => void
  ): Promise<SolanaHistory> {
    const { wallet, tokenAccounts, limit, maxUnpaged } = query
    const reader = new TransactionReader(historyRpc, cache, transactions)
    const before = await findCursor('before', query.before)
    const until = await findCursor('until', query.until)
    const kept = (await cache.read<WalletAccounts>('lists', [accountsName(wallet)])).get(
      accountsName(wallet)
    )?.value
    const startMs = Date.now()
    const newest = newestOf(kept)
    const isKept = before === undefined ? newest !== undefined : (kept?.asOf ?? -1) >= before.slot
    const balances = isKept ? newest : await readBalances(rpc, wallet, callOptions)
    // A node that is behind the balances would seem to leave out the newest transactions.
    const options = { ...callOptions, minContextSlot: balances?.slot }
    const firstSlot = isKept ? kept?.firstSlot : await historyRpc.getFirstAvailableBlock(callOptions)
    onReached(before?.slot ?? balances?.slot ?? 0, 0)
    const present =
      balances === undefined
        ? (kept?.present ?? [])
        : [...[...balances.balances.keys()].filter(account => account !== wallet), ...balances.unreadable]
    const range = {
      ...{ wallet, before, until, onReached },
      present: tokenAccounts === 'all' ? present : undefined,
      former:
        tokenAccounts === 'all'
          ? (kept?.former ?? []).filter(({ account }) => !present.includes(account))
          : [],
      asOf: before?.slot ?? newest?.slot ?? Number.POSITIVE_INFINITY,
      // Lists of other accounts may have been read since: a page is of one slot.
      upTo: before === undefined && newest !== undefined ? newest.slot : Number.POSITIVE_INFINITY
    }
    const deps = { rpc: historyRpc, cache, reader, options }
    const isUnbounded = limit === undefined
    const most = isUnbounded && maxUnpaged !== null ? maxUnpaged + 1 : (limit ?? Number.POSITIVE_INFINITY)
    const asOf = balances?.slot ?? kept?.asOf ?? 0
    const state = before === undefined ? balances : undefined
    const around = { query, reader, cache, finalSlot: asOf - finalAfterSlots, options, state, firstSlot }
    let part = await readHistory(deps, { ...range, limit: most })
    if (isUnbounded && maxUnpaged !== null && part.transactions.length > maxUnpaged) throw tooMany(maxUnpaged)
    let gaps = await check(part, around)
    // A wrong answer of a node leaves a gap beside it, and a right one in its place leaves none.
    while (await reader.readAgain(besideGaps(gaps, part), options)) {
      part = await readHistory(deps, { ...range, asOf: before?.slot ?? asOf, limit: most })
      gaps = await check(part, around)
    }
    forgetGaps(gaps, part, reader)
    const searched = joinSearched(
      kept,
      before?.slot ?? asOf,
      part.reachedSlot < 0 ? (until?.slot ?? 0) : part.reachedSlot
    )
    if (tokenAccounts === 'all') {
      const accounts: WalletAccounts = {
        ...{ asOf, present, ...searched, former: part.former },
        ...withValues({
          firstSlot,
          newest: isKept ? newest && kept?.newest : balances && keepNewest(balances, startMs)
        })
      }
      cache.save('lists', accountsName(wallet), accounts)
    }
    return {
      ...{ transactions: part.transactions, isFinalized: part.isFinalized, gaps, toSlot: asOf },
      tokenAccounts: tokenAccounts === 'all' ? present.length + part.former.length : 0,
      ...(tokenAccounts === 'all' && { closedFrom: Math.max(searched.searchedTo, firstSlot ?? 0) }),
      late: part.late.flatMap(({ account, skipped }) =>
        skipped === undefined
          ? []
          : [
              {
                ...{ account, transactions: skipped.count },
                ...{ newest: skipped.newest.signature, oldest: skipped.oldest.signature }
              }
            ]
      ),
      ...withValues({ fromSlot: firstSlot, balances: state })
    }

    async function findCursor(
      name: 'before' | 'until',
      signature: string | undefined
    ): Promise<Cursor | undefined> {
      if (signature === undefined) return undefined
      const found = await reader.find(signature, callOptions)
      if (found !== undefined) return { signature, slot: found.slot }
      const path = `/params/1/${name}`
      const message = `${name} must be the signature of a transaction; no node knows ${signature.slice(0, 100)}.`
      throw new Refusal('INVALID_PARAMS', message, { path })
    }
  }

  /** Compares the balances of a part with each other, with the transactions around it, and with those of today. */
  async function check(
    part: HistoryPart,
    around: {
      readonly query: SolanaHistoryQuery
      readonly reader: TransactionReader
      readonly cache: HistoryCache
      readonly finalSlot: number
      readonly options: SolanaCallOptions
      readonly state: WalletBalances | undefined
      readonly firstSlot: number | undefined
    }
  ): Promise<readonly Gap[]> {
    const { query, reader, cache, options, state, firstSlot, finalSlot } = around
    const { wallet } = query
    const { transactions, streams } = part
    const lowest = transactions.at(-1)?.transaction
    const neighbours = state === undefined ? await readNewer(part, query, reader, options) : new Map()
    const gaps = checkContinuity(transactions, {
      ...{ wallet, state: state && onlyAsked(state, query) },
      newerOf: account => neighbours.get(account),
      isOldest: account => {
        const stream = streams.get(account)
        if (stream?.end === undefined || query.until !== undefined) return false
        const last = stream.entries.at(-1)
        if (last === undefined || lowest === undefined || part.reachedSlot < 0) return true
        return last.slot > lowest.slot || last.signature === lowest.signature
      },
      beginning: firstSlot === 0 || firstSlot === 1 ? 'missing' : 'pruned'
    })
    const shown = query.tokenAccounts === 'none' ? gaps.filter(({ account }) => account === wallet) : gaps
    return explainGaps(shown, wallet, { rpc: historyRpc, cache, finalSlot, options })
  }

  /** Reads the transaction just newer than a part, of each account that the part changes: kept by now, mostly. */
  async function readNewer(
    { transactions, streams }: HistoryPart,
    { wallet, before }: SolanaHistoryQuery,
    reader: TransactionReader,
    options: SolanaCallOptions
  ): Promise<ReadonlyMap<string, WalletTransaction>> {
    const changed = new Set([
      wallet,
      ...transactions.flatMap(({ tokens }) => tokens.map(({ account }) => account))
    ])
    const cursor = before === undefined ? undefined : reader.known.get(before)
    const newer = new Map<string, WalletTransaction>()
    const isOwn = (account: string) => streams.has(account)
    for (const account of changed) {
      const above = cursor && (await nextAbove(account, cursor))
      const view = above && viewFromWallet(above, wallet, isOwn)
      if (view !== undefined) newer.set(account, view)
    }
    return newer

    async function nextAbove(account: string, last: KeptTransaction): Promise<KeptTransaction | undefined> {
      if (last.accounts.some(([address]) => address === account)) return last
      const { entries = [], skipped } = streams.get(account) ?? {}
      const inSlot = entries
        .filter(({ slot }) => slot === last.slot)
        .flatMap(({ signature }) => reader.known.get(signature) ?? [])
        .filter(({ index }) => (index ?? 0) > (last.index ?? 0))
      if (inSlot.length > 0) return lowestOf(inSlot)
      if (skipped === undefined) return undefined
      const signatures = skipped.inOldestSlot.map(({ signature }) => signature)
      await reader.read(
        skipped.inOldestSlot.map(each => ({ ...each, accounts: [account] })),
        options
      )
      if (signatures.length > 1) await reader.readIndexes(signatures, options)
      return lowestOf(signatures.flatMap(signature => reader.known.get(signature) ?? []))
    }
  }
}

/** The transactions that may be wrong where a gap is: its two neighbours, and what the account's list has between them. */
function* besideGaps(gaps: readonly Gap[], { streams }: HistoryPart): Iterable<string> {
  for (const { account, older, newer, cause } of gaps) {
    if (cause !== 'missing') continue
    for (const each of [older, newer]) if (each !== undefined) yield each.transaction.signature
    const from = older?.transaction.slot ?? -1
    const to = newer?.transaction.slot ?? Number.POSITIVE_INFINITY
    for (const { signature, slot } of streams.get(account)?.entries ?? [])
      if (slot >= from && slot <= to) yield signature
  }
}

/** The node may have been wrong only this time: the next reading asks anew for the lists of gaps and for what lies beside them. */
function forgetGaps(gaps: readonly Gap[], part: HistoryPart, reader: TransactionReader): void {
  for (const { cause, account } of gaps) if (cause === 'missing') part.streams.get(account)?.forget()
  reader.forget(besideGaps(gaps, part))
}

function lowestOf(transactions: readonly KeptTransaction[]): KeptTransaction | undefined {
  return [...transactions].sort((a, b) => (a.index ?? 0) - (b.index ?? 0))[0]
}

function onlyAsked(state: WalletBalances, { wallet, tokenAccounts }: SolanaHistoryQuery): WalletBalances {
  if (tokenAccounts === 'all') return state
  return { ...state, balances: new Map([...state.balances].filter(([account]) => account === wallet)) }
}

function accountsName(wallet: string): string {
  return `accounts:${wallet}`
}

function tooMany(maxUnpaged: number): Refusal {
  return new Refusal(
    'TOO_MANY_RESULTS',
    `The history has more than ${maxUnpaged} records: ask for pages with limit and before, each of which names its own gaps.`,
    { maxUnpaged }
  )
}
