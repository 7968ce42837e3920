import type { DeepSource } from '../../model/deepHistory.ts'
import type { EvmRpc } from '../../nodes/evm/rpc.ts'
import { NodeRpcError } from '../../platform/errors.ts'
import { otsMethod } from './createOtsSearch.ts'
import { traceMethod } from './createTraceSearch.ts'
import type { NonceMethod } from './state/createOldState.ts'

/** What a chain's nodes offer to whoever looks for the transactions of one account. */
export interface Offers {
  readonly ots: boolean
  /** Its pages name every payment inside of transactions, also of destroyed contracts. */
  readonly hasOtsPayments: boolean
  readonly traceFilter: boolean
  /** The nonces and balances of old blocks. */
  readonly state: boolean
  readonly nonceMethod?: NonceMethod | undefined
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
  const ots = await isThere(otsMethod, [nobody, 1, 1])
  const name = ots && payments ? String((await ask('web3_clientVersion', []))?.value) : ''
  // Anvil's pages leave out whom a destroyed contract paid.
  const hasOtsPayments = ots && !/^anvil/i.test(name)
  const none = { ots, hasOtsPayments, traceFilter: false, state: false }
  if (ots && (hasOtsPayments || !payments)) return none
  const [traceFilter, state] = [
    await isThere(traceMethod, [{ fromBlock: '0x1', toBlock: '0x1', fromAddress: [nobody] }]),
    await isThere('eth_getBalance', [nobody, '0x1'])
  ]
  const findNonceMethod = async (): Promise<NonceMethod | undefined> => {
    if (await isThere('eth_getTransactionBySenderAndNonce', [nobody, '0x0']))
      return 'eth_getTransactionBySenderAndNonce'
    return (await isThere('ots_getTransactionBySenderAndNonce', [nobody, 0]))
      ? 'ots_getTransactionBySenderAndNonce'
      : undefined
  }
  return { ...none, traceFilter, state, nonceMethod: state ? await findNonceMethod() : undefined }
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
