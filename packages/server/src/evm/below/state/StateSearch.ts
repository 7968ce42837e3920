import type { BlockRows } from '../../../index/record/encodeBlock.ts'
import type { DeepReason } from '../../../model/deepHistory.ts'
import type { Address } from '../../../model/evm.ts'
import { NodeContradictionError } from '../../../platform/errors.ts'
import type { DownwardSearch, FoundBlock, SearchEnd, Wanted } from '../search/DownwardSearch.ts'
import type { OldState, StateKind, StateRead } from './createOldState.ts'
import { type BlockEffect, explainBlock } from './explainBlock.ts'
import { judgeBlock, type KnownState } from './judgeBlock.ts'
import { planTurn } from './planTurn.ts'
import { Readings } from './Readings.ts'
import { type Part, walkDown } from './walkDown.ts'

export interface StateSearchOptions {
  readonly state: OldState
  block(number: number, signal: AbortSignal): Promise<BlockRows>
  /** A transaction of the account was seen before, so that it has a key. */
  readonly hasKey: boolean
}

/** Records that are searched for together; more would keep a caller waiting for the first of them. */
const maxWanted = 64
/** Until the first of them is found: before, the account may be one that blocks themselves pay. */
const firstWanted = 16
/** So many payments in a row without a transaction: to search on is of no use. */
const maxFruitless = 200
/** So many suffice where blocks themselves pay that often, as they pay a fee recipient or an address of withdrawals. */
const dense = { payments: 20, blocksEach: 1_000 }
/** Answers that contradict earlier ones; more of them, and the nodes are of no use. */
const maxCorrections = 16
const genesis = 0

interface SoundBlock {
  readonly height: number
  readonly effect: BlockEffect
}

/**
 * Finds an account's transactions from its nonces and balances at old blocks alone, and proves that there are no others.
 *
 * - A nonce grows with each of its transactions and authorizations. Each growth is followed to its block, which has to have them.
 * - While no nonce is used, the balance of an account that has a key and runs no code cannot fall. So where it is the same at both
 *   ends of a stretch, nothing came in between; where it is not, each growth is followed to its block, which has to explain it.
 *
 * Only what blocks have explained is believed: an answer from another height makes a block that explains nothing, and is
 * read again. Transactions without value and logs that others sent to the account leave no trace in state.
 */
export class StateSearch implements DownwardSearch {
  readonly #options: StateSearchOptions
  readonly #address: Address
  readonly #known: KnownState = { nonce: new Readings(), balance: new Readings(), code: new Readings() }
  readonly #effects = new Map<number, BlockEffect>()
  readonly #asked = new Set<bigint>()
  /** Blocks that are being read. */
  readonly #reading = new Map<number, Promise<void>>()
  #reach: number | undefined
  #found: FoundBlock[] = []
  /** To be read once more. */
  #again: StateRead[] = []
  #from: number
  #hasKey: boolean
  /** A transaction was found. */
  #isFruitful = false
  /** The ends of the whole past are settled. */
  #isOpen = false
  #corrections = 0
  /** Blocks without a transaction since the last one with any, down from `above`; `paid`: those that paid the account themselves. */
  #fruitless = { blocks: 0, paid: 0, above: 0 }
  #callsLeft: number | undefined
  /** The balance after this block was shown by the block above it. */
  #explainedBelow: number | undefined
  end: SearchEnd | undefined

  constructor(options: StateSearchOptions, { address, below }: Wanted) {
    this.#options = options
    this.#address = address
    this.#from = below
    this.#hasKey = options.hasKey
  }

  get from(): number {
    return this.#from
  }

  /** About how many calls the next records take; absent: not known yet. */
  get callsLeft(): number | undefined {
    return this.#callsLeft
  }

  get reach(): number | undefined {
    return this.#reach
  }

  async advance(signal: AbortSignal, wanted: number): Promise<void> {
    // Nothing happens in the genesis block.
    if (this.#from <= 1) this.#from = genesis
    if (this.#from === genesis) return
    // Those of a call that was broken off end with it.
    this.#reading.clear()
    // While blocks are read, the next exchanges need not wait for them.
    const missing = () => wanted - this.#found.reduce((sum, { records = [] }) => sum + records.length, 0)
    do await this.#exchange(signal, Math.max(1, missing()))
    while (this.#reading.size > 0 && missing() > 0 && this.end === undefined && this.#from > genesis)
  }

  async #exchange(signal: AbortSignal, wanted: number): Promise<void> {
    const { reads, blocks, nonces } = this.#plan(wanted)
    for (const number of blocks) this.#read(number, signal)
    if (reads.length + nonces.length + this.#reading.size === 0)
      throw new Error(`nothing is left to ask about the account before block ${this.#from}`)
    const { state } = this.#options
    if (reads.length + nonces.length === 0) await Promise.all(this.#reading.values())
    else
      await Promise.all([
        state.read(reads, signal, ({ kind, height }, value) => {
          if (this.#known[kind].note(height, value)) this.#corrections++
        }),
        nonces.length > 0 && this.#lookUp(nonces, signal)
      ])
    this.#again = []
    if (this.#corrections > maxCorrections)
      throw new NodeContradictionError('the nodes give other answers about the same old state each time')
    if (!this.#isOpen && !this.#open()) return
    while (this.end === undefined && this.#from > genesis && this.#settle())
      for (const readings of Object.values(this.#known)) readings.cutAbove(this.#from - 1)
  }

  take(from: number): readonly FoundBlock[] {
    const taken = this.#found.filter(({ number }) => number >= from)
    this.#found = this.#found.filter(({ number }) => number < from)
    return taken
  }

  #parts(): Iterable<Part> {
    const { nonce: nonces, balance: balances } = this.#known
    return walkDown({ nonces, balances, effects: this.#effects, top: this.#from - 1 })
  }

  #plan(wanted: number) {
    const ends = this.#isOpen ? [] : this.#ends()
    const isThrifty = wanted > maxWanted
    let plan = planTurn(this.#isUnprovable() ? [] : this.#parts(), {
      wanted: Math.min(wanted, isThrifty && !this.#isFruitful ? firstWanted : maxWanted),
      isThrifty,
      hasKey: this.#hasKey,
      effects: this.#effects,
      mayLookUp: nonce => this.#options.state.lookUp !== undefined && !this.#asked.has(nonce)
    })
    this.#callsLeft = plan.callsLeft
    if (!this.#isOpen && !isThrifty) plan = { ...plan, reads: [...this.#ladder(), ...plan.reads] }
    const unread = plan.reads.filter(({ kind, height }) => (this.#known[kind].at(height)?.times ?? 0) === 0)
    const reads = new Map(
      [...ends, ...this.#again, ...unread].map(read => [`${read.kind} ${read.height}`, read])
    )
    const blocks = plan.blocks.filter(number => !this.#reading.has(number))
    this.#reach = plan.reach
    return { ...plan, blocks, reads: [...reads.values()] }
  }

  /** What is to be settled before anything else is believed. */
  #ends(): readonly StateRead[] {
    const at = (height: number, ...kinds: readonly StateKind[]) => kinds.map(kind => ({ kind, height }))
    const ends = [...at(genesis, 'nonce', 'balance'), ...at(this.#from - 1, 'nonce', 'balance', 'code')]
    return ends.filter(({ kind, height }) => !this.#known[kind].isSettled(height))
  }

  /** Steps down from the top, each twice as long: they show how dense the account's past is, wherever it is. */
  #ladder(): readonly StateRead[] {
    const top = this.#from - 1
    if (this.#options.state.lookUp !== undefined || this.#isUnprovable()) return []
    const heights = []
    for (let below = 1; below < top; below *= 2) heights.push(top - below)
    return heights.flatMap(
      height =>
        [
          { kind: 'nonce', height },
          { kind: 'balance', height }
        ] as const
    )
  }

  /** Reports whether what was read so far, if it is true, keeps the account's past from being proven. */
  #isUnprovable(): boolean {
    const { code, nonce } = this.#known
    const top = this.#from - 1
    return (code.at(top)?.value ?? 0n) !== 0n || (!this.#hasKey && nonce.at(top)?.value === 0n)
  }

  #open(): boolean {
    if (this.#ends().length > 0) return false
    this.#isOpen = true
    const top = this.#from - 1
    const code = this.#known.code.at(top)?.value
    if (code === 2n) this.#stop('contract')
    else if (code === 1n) this.#stop('delegated')
    else if (!this.#hasKey && this.#known.nonce.at(top)?.value === 0n) this.#stop('no-key')
    return this.end === undefined
  }

  #stop(reason: DeepReason): void {
    this.end = { from: this.#from, reason }
  }

  #read(number: number, signal: AbortSignal): void {
    const reading = this.#options
      .block(number, signal)
      .then(rows => this.#learn(number, explainBlock(rows, this.#address)))
      .finally(() => {
        if (this.#reading.get(number) === reading) this.#reading.delete(number)
      })
    // It is awaited once nothing else can be asked; what has failed by then is read again.
    reading.catch(() => undefined)
    this.#reading.set(number, reading)
  }

  /** Learns from a block what it did, and which nonces were used before and after it. */
  #learn(number: number, effect: BlockEffect): void {
    this.#effects.set(number, effect)
    const { nonces, authorizations, hasOddNonces } = effect
    const sorted = [...nonces].sort((a, b) => Number(a - b))
    const [first, last] = [sorted[0], sorted.at(-1)]
    const isPlain = authorizations.length === 0 && !hasOddNonces
    if (first === undefined || last === undefined || !isPlain || number >= this.#from) return
    this.#known.nonce.conclude(number - 1, first)
    this.#known.nonce.conclude(number, last + 1n)
  }

  async #lookUp(nonces: readonly bigint[], signal: AbortSignal): Promise<void> {
    const numbers = (await this.#options.state.lookUp?.(nonces, signal)) ?? []
    const { nonce: known } = this.#known
    const blocks = new Map<number, { first: bigint; end: bigint }>()
    for (const [position, nonce] of nonces.entries()) {
      this.#asked.add(nonce)
      const number = numbers[position]
      if (number === undefined || number <= genesis || number >= this.#from) continue
      const block = blocks.get(number) ?? { first: nonce, end: nonce + 1n }
      if (nonce < block.first) block.first = nonce
      if (nonce >= block.end) block.end = nonce + 1n
      blocks.set(number, block)
    }
    for (const [number, { first, end }] of blocks) {
      known.conclude(number - 1, first)
      known.conclude(number, end)
    }
  }

  /** Takes what is explained, from the top down to the first part that is not. @returns whether it took anything. */
  #settle(): boolean {
    if (!this.#hasKey && !this.#findKey()) return false
    const top = this.#from - 1
    let nonce = this.#known.nonce.at(top)?.value ?? 0n
    /** Blocks that explain themselves, where the balance does not tell yet that nothing came in between. */
    let sound: SoundBlock[] = []
    let isNext = true
    /** The balance after this block is the upper end of what follows. */
    let upper = top
    for (const part of this.#parts()) {
      if (part.kind === 'falling') this.#judgeFall(part, isNext)
      if (part.kind === 'falling' || this.end !== undefined) break
      if (part.kind === 'bottom') {
        const open = [part.height, upper].filter(height => !this.#isSure(height))
        this.#again.push(...open.map(height => ({ kind: 'balance', height }) as const))
        isNext &&= open.length === 0
        if (isNext) this.#keep(sound, part.height === genesis ? genesis : part.height + 1, nonce)
        sound = []
        continue
      }
      const isBlock = part.kind === 'own' || part.kind === 'paid'
      const effect = isBlock ? this.#effects.get(part.height) : undefined
      const verdict = isBlock && effect ? judgeBlock(part, effect, this.#known) : undefined
      if (verdict?.kind === 'read')
        this.#again.push(...verdict.heights.map(height => ({ kind: verdict.what, height })))
      isNext &&= verdict !== undefined && verdict.kind !== 'read'
      if (!isNext || !isBlock || effect === undefined) continue
      if (verdict?.kind === 'contradiction') throw new NodeContradictionError(verdict.problem)
      sound.push({ height: part.height, effect })
      if (part.kind === 'own') nonce = part.first
      const isUneven = part.kind === 'paid' || part.isUneven === true
      if (!isUneven && part.height !== this.#from - 1) continue
      this.#keep(sound, part.height, nonce)
      sound = []
      if (isUneven) upper = this.#explainedBelow = part.height - 1
      if (verdict?.kind === 'unprovable') this.#stop(verdict.reason)
      if (!isUneven) break
    }
    return this.#from <= top
  }

  /** Reports whether a balance was read twice, or explained by the block above it. */
  #isSure(height: number): boolean {
    return this.#known.balance.isSettled(height) || height === this.#explainedBelow
  }

  /** @param nonce - of the account before `from`. */
  #keep(blocks: readonly SoundBlock[], from: number, nonce: bigint): void {
    this.#from = from
    this.#known.nonce.conclude(from - 1, nonce)
    for (const { height, effect } of blocks) {
      const { records, change } = effect
      this.#effects.delete(height)
      this.#isFruitful ||= records.length > 0
      if (records.length > 0) this.#found.push({ number: height, hashes: [], candidates: [], records })
      const { blocks: fruitless, paid, above } = this.#fruitless
      const isPaid = change > 0n ? 1 : 0
      this.#fruitless =
        records.length > 0
          ? { blocks: 0, paid: 0, above: height }
          : { blocks: fruitless + 1, paid: paid + isPaid, above: above || height }
    }
  }

  /** A block pays the account again and again, so that its past is as long as the chain's. */
  get problem(): string | undefined {
    const { blocks, paid, above } = this.#fruitless
    const isDense = paid >= dense.payments && above - this.#from < paid * dense.blocksEach
    if (blocks < maxFruitless && !isDense) return undefined
    return `its balance grew in ${blocks} blocks down to ${this.#from} without a transaction, as that of a fee recipient or of a withdrawal address does.`
  }

  /** A contract uses a nonce too, when it is created: what shows a key is a transaction, or an authorization. */
  #findKey(): boolean {
    for (const part of this.#parts()) {
      if (part.kind === 'openNonce') return false
      if (part.kind !== 'own') continue
      const effect = this.#effects.get(part.height)
      if (effect === undefined) return false
      this.#hasKey = effect.nonces.length + effect.authorizations.length > 0
      if (this.#hasKey) return true
      const sides = [part.height - 1, part.height].filter(height => !this.#known.nonce.isSettled(height))
      this.#again.push(...sides.map(height => ({ kind: 'nonce' as const, height })))
      if (sides.length === 0) this.#stop('contract')
      return false
    }
    return false
  }

  /** A nonce falls when a contract was destroyed. */
  #judgeFall({ low, high }: Extract<Part, { kind: 'falling' }>, isNext: boolean): void {
    const open = [low, high].filter(({ height }) => !this.#known.nonce.isSettled(height))
    this.#again.push(...open.map(({ height }) => ({ kind: 'nonce', height }) as const))
    if (open.length === 0 && isNext) this.#stop('contract')
  }
}
