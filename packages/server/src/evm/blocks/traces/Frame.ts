import type { Address } from '../../../model/evm.ts'
import { isAbsent } from '../../../nodes/evm/rawFields.ts'

/** One step of a transaction that may move native currency or use a nonce, in the words that all forms of traces share. */
export interface Frame {
  /** `delegate`: code of another account, run in the caller's place (DELEGATECALL, CALLCODE), which moves nothing. */
  readonly kind: 'call' | 'delegate' | 'create' | 'selfdestruct'
  /** 0 for the transaction itself; for a step inside another, one more than that has. */
  readonly depth: number
  readonly from: Address
  /** Receiver, created contract or beneficiary; absent for a creation that failed. */
  readonly to?: Address
  readonly value: bigint
  /** A creation that left no code. */
  readonly isEmpty?: boolean
  /** In the node's words. Absent: it succeeded, which is undone all the same where a step around it failed. */
  readonly error?: string
}

/** The EVM nests 1,024 calls in a transaction; in the last of them a contract may still destroy itself. */
export const deepestFrame = 1_025

export function isEmptyCode(code: unknown): boolean {
  return isAbsent(code) || code === '0x'
}
