import type { DeepReason } from '../../../../model/deepHistory.ts'
import { NodeContradictionError } from '../../../../platform/errors.ts'
import type { AccountPast } from './AccountPast.ts'
import type { StateRead } from './createOldState.ts'
import type { BlockEffect } from './explainBlock.ts'
import { judgeBlock } from './judgeBlock.ts'
import type { Part } from './walkDown.ts'

/** A block that explains what the account's state says of it. */
export interface SoundBlock {
  readonly height: number
  readonly effect: BlockEffect
}

/** What has to be known before more is believed. */
interface Settled {
  /** To be read once more. */
  readonly again: readonly StateRead[]
  /** Why nothing older can be proven; absent: nothing keeps it from being proven by now. */
  readonly reason?: DeepReason
}

const genesis = 0

/**
 * Believes what is explained, from the top down to the first part that is not.
 *
 * @param keep - takes sound blocks down to a height, and the account's nonce before it.
 * @throws {NodeContradictionError} what nodes say cannot be.
 */
export function settlePast(
  past: AccountPast,
  top: number,
  keep: (blocks: readonly SoundBlock[], from: number, nonce: bigint) => void
): Settled {
  const again: StateRead[] = []
  let nonce = past.known.nonce.at(top)?.value ?? 0n
  /** Blocks that explain themselves, where the balance does not tell yet that nothing came in between. */
  let sound: SoundBlock[] = []
  let isNext = true
  /** The balance after this block is the upper end of what follows. */
  let upper = top
  let from = top + 1
  const take = (height: number) => {
    keep(sound, height, nonce)
    from = height
    sound = []
  }
  for (const part of past.parts(top)) {
    if (part.kind === 'falling') {
      const open = openSides(past, part)
      again.push(...open)
      // A nonce falls when a contract was destroyed.
      return open.length === 0 && isNext ? { again, reason: 'contract' } : { again }
    }
    if (part.kind === 'bottom') {
      const open = [part.height, upper].filter(height => !past.isBalanceSure(height))
      again.push(...open.map(height => ({ kind: 'balance', height }) as const))
      isNext &&= open.length === 0
      if (isNext) take(part.height === genesis ? genesis : part.height + 1)
      sound = []
      continue
    }
    const isBlock = part.kind === 'own' || part.kind === 'paid'
    const effect = isBlock ? past.effects.get(part.height) : undefined
    const verdict = isBlock && effect ? judgeBlock(part, effect, past.known) : undefined
    if (verdict?.kind === 'read')
      again.push(...verdict.heights.map(height => ({ kind: verdict.what, height })))
    isNext &&= verdict !== undefined && verdict.kind !== 'read'
    if (!isNext || !isBlock || effect === undefined) continue
    if (verdict?.kind === 'contradiction') throw new NodeContradictionError(verdict.problem)
    sound.push({ height: part.height, effect })
    if (part.kind === 'own') nonce = part.first
    const isUneven = part.kind === 'paid' || part.isUneven === true
    if (!isUneven && part.height !== from - 1) continue
    take(part.height)
    if (isUneven) upper = past.explainedBelow = part.height - 1
    if (verdict?.kind === 'unprovable') return { again, reason: verdict.reason }
    if (!isUneven) break
  }
  return { again }
}

function openSides(
  { known }: AccountPast,
  { low, high }: Extract<Part, { kind: 'falling' }>
): readonly StateRead[] {
  const open = [low, high].filter(({ height }) => !known.nonce.isSettled(height))
  return open.map(({ height }) => ({ kind: 'nonce', height }))
}

/**
 * Finds out whether the account has a key. A contract uses a nonce too, when it is created: what shows a key is a transaction, or
 * an authorization.
 */
export function findKey(past: AccountPast, top: number): Settled & { readonly hasKey: boolean } {
  const { known, effects } = past
  for (const part of past.parts(top)) {
    if (part.kind === 'openNonce') break
    if (part.kind !== 'own') continue
    const effect = effects.get(part.height)
    if (effect === undefined) break
    if (effect.nonces.length + effect.authorizations.length > 0) return { hasKey: true, again: [] }
    const sides = [part.height - 1, part.height].filter(height => !known.nonce.isSettled(height))
    const again = sides.map(height => ({ kind: 'nonce', height }) as const)
    return { hasKey: false, again, ...(sides.length === 0 && { reason: 'contract' }) }
  }
  return { hasKey: false, again: [] }
}
