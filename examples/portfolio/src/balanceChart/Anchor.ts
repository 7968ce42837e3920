import type { EvmHoldings } from '@chain-data/client/fetch'
import type { HistorySnapshot } from '@chain-data/client/history'

/** The native balance at the end of a block. */
export interface Anchor {
  readonly balanceWei: bigint
  readonly blockNumber: number
  readonly blockHash: string
  readonly timestampSeconds: number
}

/** A balance that a history leads up to, as far as there is one. */
export interface KnownAnchor {
  /** A balance of which every transaction is in the history. */
  readonly anchor?: Anchor | undefined
  /** Block of a balance that a reorg may have outdated. */
  readonly outdated?: string | undefined
  /** Reorgs of the history when it was tied to it. */
  readonly reorgs: number
}

/** Ties a history to the balance that was read last. @returns The same object where nothing changes. */
export function tieTo(
  known: KnownAnchor,
  list: Pick<HistorySnapshot, 'records' | 'coverage' | 'reorgs'>,
  balance: Anchor | undefined
): KnownAnchor {
  const { records, coverage, reorgs } = list
  if (reorgs !== known.reorgs) return tieTo({ reorgs, outdated: balance?.blockHash }, list, balance)
  if (balance === undefined || balance === known.anchor || balance.blockHash === known.outdated) return known
  // A host that does not say how far its history reaches leaves it open whether something is missing.
  const isCovered = records !== undefined && (coverage?.to ?? -1) >= balance.blockNumber
  return isCovered ? { ...known, anchor: balance } : known
}

/** The balance of holdings; nothing from a host that does not name its block. */
export function anchorOf({ native, asOf }: EvmHoldings): Anchor | undefined {
  if (asOf === undefined) return undefined
  const { blockNumber, blockHash, timestamp } = asOf
  return { balanceWei: BigInt(native), blockNumber, blockHash, timestampSeconds: timestamp }
}
