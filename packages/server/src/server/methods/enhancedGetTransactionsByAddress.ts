import { Refusal } from '../../platform/refusal.ts'
import type { Handlers } from './MethodContext.ts'

/** Answers the history of a Solana wallet; no cluster offers it until its reader is here. */
export function createEnhancedGetTransactionsByAddress(): Handlers['enhancedGetTransactionsByAddress'] {
  return async () => {
    throw new Refusal('UPSTREAM_UNAVAILABLE', 'This host cannot read histories of Solana wallets.', {})
  }
}
