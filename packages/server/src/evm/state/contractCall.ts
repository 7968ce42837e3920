import type { Address, Hex } from '../../model/evm.ts'
import type { ReturnData } from './abi.ts'

/** One read of a contract that nobody vouches for. */
export interface ContractCall {
  readonly to: Address
  readonly data: Hex
  /** All the gas it may burn; bounds time on the node and, as memory costs gas, what can be returned. */
  readonly gas: number
  /** Gas of a second attempt after a failure, for reads whose honest cost varies widely. */
  readonly generousGas?: number
  /** More than this counts as a failure. */
  readonly maxReturnBytes: number
}

export type CallResult =
  /** Empty data is what an address without code answers, or a contract whose fallback took the call. */
  | { readonly kind: 'returned'; readonly data: ReturnData }
  /** The contract itself refused. */
  | { readonly kind: 'reverted' }
  /** Out of gas, invalid instruction, too much returned, too slow: nothing can be concluded. */
  | { readonly kind: 'failed' }
