import type { Address, HoldingCandidate } from '../../model/evm.ts'
import { decodeUint } from '../state/abi.ts'
import type { CallResult, ContractCall } from '../state/contractCall.ts'

/** What state says about one candidate. */
export type Ownership =
  | { readonly kind: 'held'; readonly amount: bigint }
  | { readonly kind: 'none' }
  /** The contract did not answer the question: it may be no token at all. Other evidence decides. */
  | { readonly kind: 'silent' }
  /** Broken, too expensive or malformed: whether and how much is held is not known. */
  | { readonly kind: 'unreadable' }

/** How one token standard is asked who owns what. */
export interface OwnershipReader {
  call(candidate: HoldingCandidate): ContractCall
  read(result: CallResult, candidate: HoldingCandidate): Ownership
}

/** Enough for proxies and rebasing tokens; a few milliseconds of a node's time. */
export const balanceGas = 500_000

/** Reading one word. Contracts that return more than these bytes where a word is expected are broken. */
export const maxWordReturnBytes = 4096

/** Ownership from an answer that is an amount. */
export function readAmount(result: CallResult): Ownership {
  if (result.kind === 'failed') return { kind: 'unreadable' }
  if (result.kind === 'reverted' || result.data === '') return { kind: 'silent' }
  const amount = decodeUint(result.data)
  if (amount === undefined) return { kind: 'unreadable' }
  return amount === 0n ? { kind: 'none' } : { kind: 'held', amount }
}

/** One read of one word. */
export function wordCall(to: Address, data: ContractCall['data']): ContractCall {
  return { to, data, gas: balanceGas, maxReturnBytes: maxWordReturnBytes }
}
