import type { PendingTransaction } from '../../model/evm.ts'

/** Sorts what is pending: next to be mined first, then by nonce descending; the hash settles what is left. */
export function inPoolOrder(a: PendingTransaction, b: PendingTransaction): number {
  if (a.status !== b.status) return b.status - a.status
  if (a.nonce !== b.nonce) return a.nonce < b.nonce ? 1 : -1
  return a.hash < b.hash ? -1 : 1
}
