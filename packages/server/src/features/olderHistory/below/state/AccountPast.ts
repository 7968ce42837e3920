import type { DeepReason } from '../../../../model/deepHistory.ts'
import type { StateKind, StateRead } from './createOldState.ts'
import type { BlockEffect } from './explainBlock.ts'
import type { KnownState } from './judgeBlock.ts'
import { Readings } from './Readings.ts'
import { type Part, walkDown } from './walkDown.ts'

const genesis = 0

/** What nodes and blocks have shown of an account's past by now, before it is believed. */
export class AccountPast {
  readonly known: KnownState = { nonce: new Readings(), balance: new Readings(), code: new Readings() }
  /** The blocks that were read and are not believed yet. */
  readonly effects = new Map<number, BlockEffect>()
  /** The balance after this block was shown by the block above it. */
  explainedBelow: number | undefined
  #corrections = 0

  /** How often a node has contradicted an earlier answer. */
  get corrections(): number {
    return this.#corrections
  }

  note({ kind, height }: StateRead, value: bigint): void {
    if (this.known[kind].note(height, value)) this.#corrections++
  }

  /** Learns what a block did, and which nonces were used before and after it. A block from `below` upwards is believed already. */
  learn(number: number, effect: BlockEffect, below: number): void {
    if (number >= below) return
    this.effects.set(number, effect)
    const { nonces, authorizations, hasOddNonces } = effect
    const sorted = [...nonces].sort((a, b) => Number(a - b))
    const [first, last] = [sorted[0], sorted.at(-1)]
    const isPlain = authorizations.length === 0 && !hasOddNonces
    if (first === undefined || last === undefined || !isPlain) return
    this.#conclude(number, first, last + 1n)
  }

  /** Learns which blocks before `below` used nonces, as a node names them; `undefined`: it names none. */
  locate(nonces: readonly bigint[], numbers: readonly (number | undefined)[], below: number): void {
    const blocks = new Map<number, { first: bigint; end: bigint }>()
    for (const [position, nonce] of nonces.entries()) {
      const number = numbers[position]
      if (number === undefined || number <= genesis || number >= below) continue
      const block = blocks.get(number) ?? { first: nonce, end: nonce + 1n }
      if (nonce < block.first) block.first = nonce
      if (nonce >= block.end) block.end = nonce + 1n
      blocks.set(number, block)
    }
    for (const [number, { first, end }] of blocks) this.#conclude(number, first, end)
  }

  #conclude(number: number, first: bigint, end: bigint): void {
    this.known.nonce.conclude(number - 1, first)
    this.known.nonce.conclude(number, end)
  }

  /** @param top - the newest height that is not believed yet. */
  parts(top: number): Iterable<Part> {
    const { nonce: nonces, balance: balances } = this.known
    return walkDown({ nonces, balances, effects: this.effects, top })
  }

  /** Returns what is to be read before anything else is believed. */
  openEnds(top: number): readonly StateRead[] {
    const at = (height: number, ...kinds: readonly StateKind[]) => kinds.map(kind => ({ kind, height }))
    const ends = [...at(genesis, 'nonce', 'balance'), ...at(top, 'nonce', 'balance', 'code')]
    return ends.filter(({ kind, height }) => !this.known[kind].isSettled(height))
  }

  /** Returns what keeps the account's past from being proven, if what was read so far is true. */
  obstacleAt(top: number, hasKey: boolean): DeepReason | undefined {
    const { code, nonce } = this.known
    const kind = code.at(top)?.value ?? 0n
    if (kind !== 0n) return kind === 1n ? 'delegated' : 'contract'
    return !hasKey && nonce.at(top)?.value === 0n ? 'no-key' : undefined
  }

  /** Reports whether a balance was read twice, or explained by the block above it. */
  isBalanceSure(height: number): boolean {
    return this.known.balance.isSettled(height) || height === this.explainedBelow
  }

  /** Forgets what was read above a height. */
  cutAbove(height: number): void {
    for (const readings of Object.values(this.known)) readings.cutAbove(height)
  }
}
