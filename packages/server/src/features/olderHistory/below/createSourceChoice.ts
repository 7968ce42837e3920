import type { Address, BlockRef, DeepHistoryCache } from '@chain-data/index'
import type { SpanSize } from '../../../evm/search/createSpanSearch.ts'
import type { SearchEnd } from '../../../evm/search/DownwardSearch.ts'
import type { DeepCoverage, DeepSource } from '../../../model/deepHistory.ts'
import type { EvmRpc } from '../../../nodes/evm/rpc.ts'
import { BoundedMap } from '../../../platform/boundedMap.ts'
import { createSharedWork } from '../../../platform/concurrency/deadline.ts'
import { eachOnce } from '../../../platform/eachOnce.ts'
import {
  chooseSource,
  findOffers,
  gapsFrom,
  isTooManyCalls,
  isTooNarrow,
  learnSpans,
  type Offers
} from './chooseSource.ts'
import type { Searches } from './searches.ts'

/** A node may be upgraded: one that offers nothing is asked again after this time. */
const forgetAfterMs = 10 * 60_000
/** Accounts are remembered whose history cannot be proven; code may be given or taken after `forgetAfterMs`. */
const rememberedEnds = 4_096

/**
 * Chooses what answers for each account's history older than the index, and tells what that covers.
 *
 * @param options.spans - what the nodes take in one call of `trace_filter`.
 * @param options.payments - payments inside of transactions count.
 */
export function createSourceChoice(options: {
  readonly rpc: Pick<EvmRpc, 'request'>
  readonly spans: SpanSize
  readonly cache: Pick<DeepHistoryCache, 'known' | 'forget'>
  readonly payments: boolean
  readonly now: () => number
}) {
  const { rpc, spans, cache, payments, now } = options
  const share = createSharedWork()
  const ends = new BoundedMap<string, { readonly end: SearchEnd; readonly atMs: number }>(rememberedEnds)
  let found: { readonly offers: Offers; readonly atMs: number } | undefined
  /** Blocks older than the index; absent: not known yet. */
  let olderBlocks: number | undefined

  const choose = (offers: Offers, blocks: number, isProvable: boolean) =>
    chooseSource(offers, { payments, isCapped: isTooNarrow(spans, blocks), isProvable })
  const answeredBy = () => found && choose(found.offers, olderBlocks ?? found.offers.head ?? 0, true)

  async function findOut(signal: AbortSignal): Promise<DeepSource> {
    const known = answeredBy()
    const isOld = now() - (found?.atMs ?? 0) >= forgetAfterMs
    if (known !== undefined && (known !== 'none' || !isOld)) return known
    await share('offers of nodes', signal, async within => {
      found = { offers: await findOffers(rpc, payments, within), atMs: now() }
      learnSpans(spans, found.offers)
    })
    return answeredBy() ?? 'none'
  }

  const endName = (address: Address, anchor: BlockRef) => `${address} ${anchor.hash}`
  function endOf(address: Address, anchor: BlockRef): SearchEnd | undefined {
    const known = ends.get(endName(address, anchor))
    return known !== undefined && now() - known.atMs < forgetAfterMs ? known.end : undefined
  }

  /**
   * Returns how far down the account is known. What may lack more than a source that is there by now is forgotten, and read from
   * that.
   */
  async function knownOf(address: Address, anchor: BlockRef) {
    const known = await cache.known(address, anchor)
    if (found === undefined || known.gaps.length === 0) return known
    const source = choose(found.offers, anchor.number, true)
    // Until it was seen to take that many blocks, `trace_filter` may turn out to cost more than state.
    const isUnsure = source === 'trace_filter' && isTooManyCalls(anchor.number, spans.taken)
    if (isUnsure && known.gaps.includes('zero-value-receipts')) return known
    const gaps = gapsFrom(source, found.offers.state)
    const isLess = gaps.length < known.gaps.length && gaps.every(gap => known.gaps.includes(gap))
    // What was found from state is marked by what the account is: from state it would be again.
    const isAlike = source === 'state' && known.gaps.includes('zero-value-receipts')
    if (source === 'none' || isAlike || !isLess) return known
    await cache.forget(address)
    return cache.known(address, anchor)
  }

  return {
    ...{ answeredBy, findOut, knownOf },
    offers: () => found?.offers,
    /** Has it found out again what the nodes offer. */
    findOutAnew(): void {
      found = undefined
    },
    /** Returns what answers for the account's blocks before one that is known. */
    async sourceOf(
      address: Address,
      anchor: BlockRef,
      below: number,
      signal: AbortSignal
    ): Promise<DeepSource> {
      olderBlocks = anchor.number
      await findOut(signal)
      if (found === undefined) return 'none'
      const end = endOf(address, anchor)
      return choose(found.offers, below, end === undefined || end.from < below)
    },
    /** Notes where an account's history cannot be proven further. */
    noteEnd({ address, anchor, direct, below }: Searches): void {
      const end = direct?.end
      if (end !== undefined && below <= end.from) ends.set(endName(address, anchor), { end, atMs: now() })
    },
    async coverage(address: Address, anchor: BlockRef): Promise<DeepCoverage> {
      const { gaps: kept, recordsFrom } = await knownOf(address, anchor)
      const end = endOf(address, anchor)
      const isEnded = end !== undefined && end.from >= recordsFrom
      const next = found ? choose(found.offers, anchor.number, !isEnded) : 'none'
      const isFromState = isEnded && end.from < anchor.number
      const gaps = eachOnce([
        ...kept,
        ...gapsFrom(next, found?.offers.state === true),
        ...gapsFrom(isFromState ? 'state' : 'none', true)
      ])
      const source = gaps.includes('zero-value-receipts') ? 'state' : next
      const isKeyless = kept.includes('payments-passed-on')
      const reason = isEnded ? { reason: end.reason } : isKeyless ? ({ reason: 'no-key' } as const) : {}
      if (next !== 'none') return { source, from: 0, gaps, ...(isKeyless && reason) }
      if (source === 'state' && recordsFrom < anchor.number)
        return { source, from: recordsFrom, gaps, ...reason }
      return { source: 'none', from: anchor.number, gaps: [], ...reason }
    }
  }
}
