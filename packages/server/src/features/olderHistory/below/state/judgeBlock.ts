import type { DeepReason } from '../../../../model/deepHistory.ts'
import { plural } from '../../../../platform/plural.ts'
import type { BlockEffect } from './explainBlock.ts'
import type { Readings } from './Readings.ts'
import type { OwnPart, Part } from './walkDown.ts'

/** What nodes said of an account after blocks. */
export interface KnownState {
  readonly nonce: Readings
  readonly balance: Readings
  /** As in `StateKind`. */
  readonly code: Readings
}

export type BlockVerdict =
  | { readonly kind: 'sound' }
  /** To be read (again) before anything is believed. */
  | { readonly kind: 'read'; readonly what: keyof KnownState; readonly heights: readonly number[] }
  /** Nothing older can be proven of this account. */
  | { readonly kind: 'unprovable'; readonly reason: DeepReason }
  /** What nodes say contradicts itself. */
  | { readonly kind: 'contradiction'; readonly problem: string }

/**
 * Judges whether a block explains what the account's state says of it: every nonce by a transaction or an authorization, and
 * a change of the balance to the wei. Without traces it may have grown more, since contracts may have paid the account.
 * What does not fit is read again on both sides first.
 */
export function judgeBlock(
  part: Extract<Part, { kind: 'own' | 'paid' }>,
  effect: BlockEffect,
  known: KnownState
): BlockVerdict {
  const { height } = part
  const open = (what: keyof KnownState, ...heights: readonly number[]): BlockVerdict | undefined => {
    const unsettled = heights.filter(each => !known[what].isSettled(each))
    return unsettled.length === 0 ? undefined : { kind: 'read', what, heights: unsettled }
  }
  const { first, end } = part.kind === 'own' ? part : { first: 0n, end: 0n }
  const authorized = effect.authorizations.filter(nonce => nonce >= first && nonce < end)
  if (!hasUsed(effect, authorized, first, end)) {
    const problem = `block ${height}: it has ${plural(effect.nonces.length, 'transaction')} of an account whose nonce grew by ${end - first} there`
    const verdict: BlockVerdict =
      authorized.length > 0 ? { kind: 'unprovable', reason: 'delegated' } : { kind: 'contradiction', problem }
    return open('nonce', height - 1, height) ?? verdict
  }
  if (authorized.some(nonce => !effect.nonces.includes(nonce))) {
    const unread = open('code', height - 1)
    if (unread !== undefined) return unread
    if (known.code.at(height - 1)?.value !== 0n) return { kind: 'unprovable', reason: 'delegated' }
  }
  const unexplained = isEven(part) ? 0n : unexplainedBy(effect, height, known)
  // What a block explains to the wei needs no second answer.
  if (unexplained === 0n) return { kind: 'sound' }
  const mayBePaid = unexplained > 0n && !effect.isTraced
  const verdict: BlockVerdict = mayBePaid ? { kind: 'sound' } : { kind: 'unprovable', reason: 'other-fees' }
  return open('balance', height - 1, height) ?? verdict
}

function isEven(part: OwnPart | { readonly kind: 'paid' }): boolean {
  return part.kind === 'own' && part.isUneven === undefined
}

function unexplainedBy({ change }: BlockEffect, height: number, { balance }: KnownState): bigint {
  const [before = 0n, after = 0n] = [height - 1, height].map(side => balance.at(side)?.value)
  return after - before - change
}

/** Reports whether the nonces are those of the block's transactions and authorizations. */
function hasUsed(
  { nonces, hasOddNonces }: BlockEffect,
  authorized: readonly bigint[],
  first: bigint,
  end: bigint
): boolean {
  const used = new Set([...nonces, ...authorized])
  if (hasOddNonces && BigInt(nonces.length) === end - first) return true
  return BigInt(used.size) === end - first && nonces.every(nonce => nonce >= first && nonce < end)
}
