import type { SolanaGap, SolanaTransaction, SolanaTransactionHistory } from '@chain-data/protocol'
import { present } from '../../../platform/present.ts'
import type { Gap } from './checkContinuity.ts'
import type { SolanaHistory } from './SolanaHistory.ts'
import type { WalletTransaction } from './walletView.ts'

/** Shapes a history to the document: everything but its transactions. */
export function shapeFacts(history: SolanaHistory): Omit<SolanaTransactionHistory, 'transactions'> {
  const { gaps, fromSlot, toSlot, tokenAccounts, closedFrom, late } = history
  return {
    covers: {
      ...present({ fromSlot }),
      toSlot,
      reason: reasonOf(fromSlot),
      continuity: isContinuous(gaps),
      tokenAccounts,
      ...present({ closedFrom }),
      ...(late.length > 0 && { late: late.map(each => ({ ...each })) })
    },
    continuity: { gaps: gaps.map(shapeGap) }
  }
}

/** Whether no gap is left that nothing explains. */
function isContinuous(gaps: readonly Gap[]): boolean {
  return gaps.every(({ cause }) => cause === 'rent' || cause === 'reward')
}

function reasonOf(fromSlot: number | undefined): 'genesis' | 'pruned' | 'unknown' {
  if (fromSlot === undefined) return 'unknown'
  // The first block of a cluster has slot 0, and some nodes count from the one after it.
  return fromSlot <= 1 ? 'genesis' : 'pruned'
}

/** Shapes a gap to the document. */
export function shapeGap({ account, mint, older, newer, post, pre, cause }: Gap): SolanaGap {
  return {
    account,
    ...present({ mint, older: older?.transaction.signature, newer: newer?.transaction.signature }),
    ...{ post, pre, cause }
  }
}

export function shapeTransaction(
  { transaction, lamports, tokens }: WalletTransaction,
  isFinalized: boolean
): SolanaTransaction {
  const { signature, slot, blockTime, index, error, fee, accounts, version, memo, programs } = transaction
  return {
    signature,
    slot,
    ...present({ blockTime, index }),
    status: error === undefined ? 'success' : 'failed',
    confirmationStatus: isFinalized ? 'finalized' : 'confirmed',
    fee,
    feePayer: accounts[0]?.[0] ?? '',
    ...present({ error, memo }),
    version,
    ...present({ lamports }),
    tokens: tokens.map(token => ({ ...token })),
    programs: [...programs]
  } as SolanaTransaction
}
