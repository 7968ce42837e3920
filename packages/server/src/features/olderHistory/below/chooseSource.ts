import type { DeepGap } from '@chain-data/index'
import type { SpanSize } from '../../../evm/search/createSpanSearch.ts'
import type { DeepSource } from '../../../model/deepHistory.ts'
import { readCount, toQuantity } from '../../../nodes/evm/rawFields.ts'
import type { EvmRpc } from '../../../nodes/evm/rpc.ts'
import { isMethodMissing } from '../../../nodes/upstreams/errorWords.ts'
import { NodeRpcError, NodeUnavailableError } from '../../../platform/errors.ts'
import { otsMethod } from './createOtsSearch.ts'
import { traceMethod } from './createTraceSearch.ts'
import type { NonceMethod } from './state/createOldState.ts'

/** What a chain's nodes offer to whoever looks for the transactions of one account. */
export interface Offers {
  readonly ots: boolean
  /** Its pages name every payment inside of transactions, also of destroyed contracts. */
  readonly hasOtsPayments: boolean
  readonly traceFilter: boolean
  /** The newest block; absent where nothing depends on how many there are. */
  readonly head?: number
  /** So many blocks `trace_filter` was seen to take in one call; absent: that was not asked. */
  readonly takenSpan?: number
  /** So many blocks it refused to take in one call, with its words; absent: none. */
  readonly refusedSpan?: { readonly blocks: number; readonly message: string }
  /** The nonces and balances of old blocks. */
  readonly state: boolean
  readonly nonceMethod?: NonceMethod | undefined
}

/** More than documented bounds of `trace_filter` allow, of 100, 1,000 and 10,000 blocks. The oldest blocks of a chain have few transactions. */
const askedSpan = 10_001
const spanTimeoutMs = 5_000
/** A whole history from state takes some twenty exchanges, mostly. */
const maxTraceCalls = 40

/** Reports whether nodes take so few blocks in one call of `trace_filter` that it costs more than state. */
export function isTooNarrow(spans: SpanSize, blocks: number): boolean {
  return spans.isRefused && isTooManyCalls(blocks, spans.blocks)
}

/** Learns how many blocks nodes took in one call of `trace_filter`, and how many they refused. */
export function learnSpans(spans: SpanSize, { takenSpan, refusedSpan }: Offers): void {
  if (takenSpan !== undefined) spans.took(takenSpan)
  if (refusedSpan !== undefined) spans.refused(refusedSpan.blocks, refusedSpan.message)
}

/** Reports whether to search so many blocks by `trace_filter` takes more calls than by state. @param span - blocks that one call takes. */
export function isTooManyCalls(blocks: number, span: number): boolean {
  return blocks > span * maxTraceCalls
}

const nobody = '0x0000000000000000000000000000000000000001'

/**
 * Finds out what nodes offer, as far as it matters, with calls that ask for as little as possible: three where they offer nothing.
 * @param payments - payments inside of transactions count.
 * @throws {NodeUnavailableError} no upstream answers, so that it is not known.
 */
export async function findOffers(
  rpc: Pick<EvmRpc, 'request'>,
  payments: boolean,
  signal: AbortSignal
): Promise<Offers> {
  const ask = async (method: string, params: readonly unknown[]) => {
    try {
      return { value: await rpc.request({ method, params }, { signal }) }
    } catch (error) {
      // A node that refuses so little has no such method, in whatever words.
      if (error instanceof NodeRpcError) return undefined
      throw error
    }
  }
  const isThere = async (method: string, params: readonly unknown[]) =>
    (await ask(method, params)) !== undefined
  const findSpan = async (): Promise<Pick<Offers, 'head' | 'takenSpan' | 'refusedSpan'>> => {
    const head = readCount(await rpc.request({ method: 'eth_blockNumber', params: [] }, { signal }), 'head')
    const blocks = Math.min(askedSpan, head)
    if (blocks === 0) return {}
    const filter = { fromBlock: '0x1', toBlock: toQuantity(blocks), fromAddress: [nobody] }
    try {
      await rpc.request({ method: traceMethod, params: [filter] }, { signal, timeoutMs: spanTimeoutMs })
      return { head, takenSpan: blocks }
    } catch (error) {
      signal.throwIfAborted()
      // One that is too slow for so many takes fewer, too.
      if (error instanceof NodeUnavailableError) return { head, refusedSpan: { blocks, message: '' } }
      if (!(error instanceof NodeRpcError) || isMethodMissing(error)) throw error
      return { head, refusedSpan: { blocks, message: error.message } }
    }
  }
  const ots = await isThere(otsMethod, [nobody, 1, 1])
  const name = ots && payments ? String((await ask('web3_clientVersion', []))?.value) : ''
  // Anvil's pages leave out whom a destroyed contract paid.
  const hasOtsPayments = ots && !/^anvil/i.test(name)
  const state = await isThere('eth_getBalance', [nobody, '0x1'])
  if (ots && (hasOtsPayments || !payments)) return { ots, hasOtsPayments, traceFilter: false, state }
  const traceFilter = await isThere(traceMethod, [
    { fromBlock: '0x1', toBlock: '0x1', fromAddress: [nobody] }
  ])
  const findNonceMethod = async (): Promise<NonceMethod | undefined> => {
    if (await isThere('eth_getTransactionBySenderAndNonce', [nobody, '0x0']))
      return 'eth_getTransactionBySenderAndNonce'
    return (await isThere('ots_getTransactionBySenderAndNonce', [nobody, 0]))
      ? 'ots_getTransactionBySenderAndNonce'
      : undefined
  }
  return {
    ...{ ots, hasOtsPayments, traceFilter, state },
    ...(traceFilter ? await findSpan() : {}),
    nonceMethod: state ? await findNonceMethod() : undefined
  }
}

/** Returns the transactions that may be missing in what a source gives. @param state - old states are there besides. */
export function gapsFrom(source: DeepSource, state: boolean): readonly DeepGap[] {
  if (source === 'state') return ['zero-value-receipts']
  return source === 'none' || state ? [] : ['authorities']
}

/**
 * Chooses what answers for the history of one account, by what it costs.
 *
 * @param needs.payments - payments inside of transactions count.
 * @param needs.isCapped - the node takes so few blocks in one call of `trace_filter` that state costs less.
 * @param needs.isProvable - nothing is known of the account that keeps state from proving its history.
 */
export function chooseSource(
  { ots, hasOtsPayments, traceFilter, state }: Offers,
  {
    payments,
    isCapped,
    isProvable
  }: { readonly payments: boolean; readonly isCapped: boolean; readonly isProvable: boolean }
): DeepSource {
  if (ots && (hasOtsPayments || !payments)) return 'ots'
  if (traceFilter && !isCapped) return 'trace_filter'
  if (state && isProvable) return 'state'
  if (traceFilter) return 'trace_filter'
  return ots ? 'ots' : 'none'
}
