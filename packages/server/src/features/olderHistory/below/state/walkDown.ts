import type { BlockEffect } from './explainBlock.ts'
import type { Reading, Readings } from './Readings.ts'

/** A block in which the account used the nonces from `first` up to, and without, `end`. */
export interface OwnPart {
  readonly kind: 'own'
  readonly height: number
  readonly first: bigint
  readonly end: bigint
  /** Down to this height no other nonce was used. */
  readonly quietTo: number
  /** The balance changed in another way than the block explains, as far as it is known by now. */
  readonly isUneven?: true
}

/** Blocks after `low`, up to `high`. */
export interface Stretch {
  readonly low: number
  readonly high: number
}

/** Nonces were used somewhere in a stretch. */
export interface OpenNoncePart {
  readonly kind: 'openNonce'
  readonly low: Reading
  readonly high: Reading
  /** Where in it the balance changed, newest first; absent: its balance is not known at both ends. */
  readonly changes: readonly Stretch[] | undefined
}

/** A part of an account's past, between readings of its nonce and its balance. */
export type Part =
  | OwnPart
  /** The account used nonces somewhere in the blocks after `low`, up to `high`. */
  | OpenNoncePart
  /** The account was paid somewhere in the blocks after `low`, up to `high`. */
  | { readonly kind: 'openBalance'; readonly low: number; readonly high: number }
  /** The balance changed in this block, in which no nonce was used. */
  | { readonly kind: 'paid'; readonly height: number }
  /** The balance changed in this block, which is older than a part that is still open. */
  | { readonly kind: 'changed'; readonly height: number }
  /** A later nonce is lower than an earlier one, which cannot be. */
  | { readonly kind: 'falling'; readonly low: Reading; readonly high: Reading }
  /** Balances that are needed to tell whether the account was paid in between. */
  | { readonly kind: 'ends'; readonly heights: readonly number[] }
  /** All blocks above this height are accounted for, if the balance after it is as it was read. */
  | { readonly kind: 'bottom'; readonly height: number }

interface WalkOptions {
  readonly nonces: Readings
  readonly balances: Readings
  /** The blocks that were read. */
  readonly effects: ReadonlyMap<number, BlockEffect>
  /** A height whose nonce is known; that of height 0 is known, too. */
  readonly top: number
}

/**
 * Walks down the past of an account as far as its readings show it, newest first. Where nothing happened there is no part: no
 * nonce was used, and the balance, which falls by the account's own transactions only, is as much higher as those have spent.
 */
export function* walkDown({ nonces, balances, effects, top }: WalkOptions): Generator<Part> {
  /** The newest blocks with own transactions and no authorization, all of them read. */
  const explained: OwnPart[] = []
  let isExplained = true
  let high = nonces.at(top)
  while (high !== undefined) {
    const low = lowestEqual(nonces, high)
    const next = nonces.before(low.height)
    const part = next === undefined ? undefined : ownPart(nonces, next, low)
    if (!isExplained) yield* changedParts(balances, { low: low.height, high: high.height })
    if (isExplained && (part === undefined || !isPlain(effects.get(low.height)))) {
      isExplained = false
      yield* walkBalances(balances, effects, explained, { top, bottom: low.height })
    }
    if (next === undefined) return
    if (next.value > low.value) {
      yield { kind: 'falling', low: next, high: low }
      return
    }
    if (isExplained && part !== undefined) explained.push(part)
    else yield part ?? openNoncePart(balances, next, low)
    high = next
  }
}

/** Reports whether the block was read, and nothing in it may have given the account code. */
function isPlain(effect: BlockEffect | undefined): boolean {
  return effect !== undefined && effect.authorizations.length === 0
}

function ownPart(nonces: Readings, next: Reading, { height, value }: Reading): OwnPart | undefined {
  if (height - next.height !== 1 || next.value > value) return undefined
  return { kind: 'own', height, first: next.value, end: value, quietTo: lowestEqual(nonces, next).height }
}

function openNoncePart(balances: Readings, low: Reading, high: Reading): OpenNoncePart {
  return {
    kind: 'openNonce',
    low,
    high,
    changes: changesIn(balances, { low: low.height, high: high.height })
  }
}

/** Where the balance changed in a stretch without own transactions. */
function* changedParts(balances: Readings, stretch: Stretch): Generator<Part> {
  for (const { low, high } of changesIn(balances, stretch) ?? [])
    yield high - low === 1 ? { kind: 'changed', height: high } : { kind: 'openBalance', low, high }
}

/** Returns the stretches between adjacent balances that differ; `undefined`: it is not known at both ends. */
function changesIn(balances: Readings, { low, high }: Stretch): readonly Stretch[] | undefined {
  if (balances.at(low) === undefined) return undefined
  const changes: Stretch[] = []
  let upper = balances.at(high)
  if (upper === undefined) return undefined
  while (upper.height > low) {
    const lower = balances.before(upper.height)
    if (lower === undefined) break
    if (lower.value !== upper.value) changes.push({ low: lower.height, high: upper.height })
    upper = lower
  }
  return changes
}

/** Walks down blocks whose own transactions are known. */
function* walkBalances(
  balances: Readings,
  effects: ReadonlyMap<number, BlockEffect>,
  own: readonly OwnPart[],
  { top, bottom }: { readonly top: number; readonly bottom: number }
): Generator<Part> {
  const missing = [bottom, top].filter(height => balances.at(height) === undefined)
  if (missing.length > 0) yield { kind: 'ends', heights: missing }
  const left = [...own]
  let high = balances.at(top)
  while (high !== undefined && high.height > bottom) {
    const low = balances.before(high.height)
    if (low === undefined || low.height < bottom) break
    const between: OwnPart[] = []
    while ((left[0]?.height ?? 0) > low.height) between.push(...left.splice(0, 1))
    const change = between.reduce((sum, { height }) => sum + (effects.get(height)?.change ?? 0n), 0n)
    const isEven = low.value + change === high.value
    if (isEven || high.height - low.height > 1) {
      if (!isEven) yield { kind: 'openBalance', low: low.height, high: high.height }
      yield* between
    } else {
      const [part] = between
      yield part === undefined ? { kind: 'paid', height: high.height } : { ...part, isUneven: true }
    }
    high = low
  }
  if (missing.length > 0) yield* left
  else yield { kind: 'bottom', height: bottom }
}

/** Returns the lowest of the adjacent readings with the same value. */
function lowestEqual(readings: Readings, from: Reading): Reading {
  let low = from
  for (;;) {
    const next = readings.before(low.height)
    if (next === undefined || next.value !== low.value) return low
    low = next
  }
}
