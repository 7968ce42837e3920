import type { Address, DeepGap } from '@chain-data/index'
import type { BlockRows } from '@chain-data/index/record'
import type { DownwardSearch, FoundBlock, SearchEnd, Wanted } from '../../../../evm/search/DownwardSearch.ts'
import type { DeepReason } from '../../../../model/deepHistory.ts'
import { NodeContradictionError } from '../../../../platform/errors.ts'
import { AccountPast } from './AccountPast.ts'
import type { OldState, StateRead } from './createOldState.ts'
import { explainBlock } from './explainBlock.ts'
import { FruitlessBlocks } from './FruitlessBlocks.ts'
import { ladderFrom, planTurn, type TurnPlan } from './planTurn.ts'
import { findKey, type SoundBlock, settlePast } from './settlePast.ts'

export interface StateSearchOptions {
  readonly state: OldState
  block(number: number, signal: AbortSignal): Promise<BlockRows>
  /** A transaction of the account was seen before, so that it has a key. */
  readonly hasKey: boolean
  /** Find what can be found of accounts that have sent nothing, too; default false. */
  readonly takesKeyless?: boolean
}

/** Records that are searched for together; more would keep a caller waiting for the first of them. */
const maxWanted = 64
/** Until the first of them is found: before, the account may be one that blocks themselves pay. */
const firstWanted = 16
/** Answers that contradict earlier ones; more of them, and the nodes are of no use. */
const maxCorrections = 16
const genesis = 0

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
  readonly #past = new AccountPast()
  readonly #fruitless: FruitlessBlocks
  /** Nonces whose blocks were asked for. */
  readonly #asked = new Set<bigint>()
  /** Blocks that are being read. */
  readonly #reading = new Map<number, Promise<void>>()
  #reach: number | undefined
  #found: FoundBlock[] = []
  #from: number
  #hasKey: boolean
  /** It has sent nothing and has no code: what it received is found, and nothing shows that it passed none of it on. */
  #isKeyless = false
  /** A transaction was found. */
  #isFruitful = false
  /** The ends of the whole past are settled. */
  #isOpen = false
  #callsLeft: number | undefined
  end: SearchEnd | undefined

  constructor(options: StateSearchOptions, { address, below }: Wanted) {
    this.#options = options
    this.#address = address
    this.#from = below
    this.#fruitless = new FruitlessBlocks(below)
    this.#hasKey = options.hasKey
  }

  get from(): number {
    // Within a run of blocks without a transaction no search is to begin anew: it would count less of the run.
    const isOver = this.#from === genesis || this.end !== undefined
    return isOver ? this.#from : this.#fruitless.above
  }

  get gaps(): readonly DeepGap[] {
    return this.#isKeyless ? ['payments-passed-on'] : []
  }

  /** About how many calls the next records take; absent: not known yet. */
  get callsLeft(): number | undefined {
    return this.#callsLeft
  }

  get reach(): number | undefined {
    return this.#reach
  }

  /** A block pays the account again and again, so that its past is as long as the chain's. */
  get problem(): string | undefined {
    return this.#isKeyless ? undefined : this.#fruitless.problem
  }

  async advance(signal: AbortSignal, wanted: number): Promise<void> {
    // Nothing happens in the genesis block.
    if (this.#from <= 1) this.#from = genesis
    if (this.#from === genesis) return
    // Those of a call that was broken off end with it.
    this.#reading.clear()
    const missing = () => wanted - this.#found.reduce((sum, { records = [] }) => sum + records.length, 0)
    for (let isFirst = true; ; isFirst = false) {
      // A block may have been read since the last exchange, also between two calls. So what is asked is decided by all that is
      // known at this moment.
      const again = this.#believe()
      if (this.#isOver) return
      // While blocks are read, the next exchanges need not wait for them.
      if (!isFirst && (this.#reading.size === 0 || missing() <= 0)) return
      await this.#ask(this.#plan(Math.max(1, missing()), again), signal)
    }
  }

  take(from: number): readonly FoundBlock[] {
    const taken = this.#found.filter(({ number }) => number >= from)
    this.#found = this.#found.filter(({ number }) => number < from)
    return taken
  }

  async #ask({ reads, blocks, nonces }: Pick<TurnPlan, 'reads' | 'blocks' | 'nonces'>, signal: AbortSignal) {
    for (const number of blocks) this.#read(number, signal)
    if (reads.length + nonces.length === 0) {
      if (this.#reading.size === 0)
        throw new NodeContradictionError(
          `the nodes' answers about the account before block ${this.#from} leave nothing to ask, and explain nothing`
        )
      await Promise.all(this.#reading.values())
    } else {
      await Promise.all([
        this.#options.state.read(reads, signal, (read, value) => this.#past.note(read, value)),
        nonces.length > 0 && this.#lookUp(nonces, signal)
      ])
    }
    if (this.#past.corrections > maxCorrections)
      throw new NodeContradictionError('the nodes give other answers about the same old state each time')
  }

  #plan(wanted: number, again: readonly StateRead[]) {
    const top = this.#from - 1
    const ends = this.#isOpen ? [] : this.#past.openEnds(top)
    const isHopeless = this.#past.obstacleAt(top, this.#hasKey) !== undefined
    const isThrifty = wanted > maxWanted
    const { state } = this.#options
    const plan = planTurn(isHopeless ? [] : this.#past.parts(top), {
      wanted: Math.min(wanted, isThrifty && !this.#isFruitful ? firstWanted : maxWanted),
      isThrifty,
      hasKey: this.#hasKey,
      effects: this.#past.effects,
      mayLookUp: nonce => state.lookUp !== undefined && !this.#asked.has(nonce)
    })
    const isLadder = !this.#isOpen && !isThrifty && !isHopeless && state.lookUp === undefined
    const planned = isLadder ? [...ladderFrom(top), ...plan.reads] : plan.reads
    const unread = planned.filter(({ kind, height }) => (this.#past.known[kind].at(height)?.times ?? 0) === 0)
    const reads = new Map([...ends, ...again, ...unread].map(read => [`${read.kind} ${read.height}`, read]))
    const blocks = plan.blocks.filter(number => !this.#reading.has(number))
    this.#callsLeft = plan.callsLeft
    this.#reach = plan.reach
    return { ...plan, blocks, reads: [...reads.values()] }
  }

  /** Nothing older is searched for. */
  get #isOver(): boolean {
    return this.end !== undefined || this.#from === genesis || this.#fruitless.problem !== undefined
  }

  /** Decides at the ends of the whole past whether it can be proven. @returns whether the search goes on. */
  #open(): boolean {
    const top = this.#from - 1
    if (this.#past.openEnds(top).length > 0) return false
    this.#isOpen = true
    const obstacle = this.#past.obstacleAt(top, this.#hasKey)
    this.#isKeyless = obstacle === 'no-key' && this.#options.takesKeyless === true
    if (this.#isKeyless) this.#hasKey = true
    else this.#stop(obstacle)
    return this.end === undefined
  }

  #stop(reason: DeepReason | undefined): void {
    if (reason === undefined || this.#isOver) return
    // Without a key, no fee explains what is gone.
    const isSpent = this.#isKeyless && reason === 'other-fees'
    this.end = { from: this.#from, reason: isSpent ? 'contract' : reason }
  }

  #read(number: number, signal: AbortSignal): void {
    const reading = this.#options
      .block(number, signal)
      .then(rows => this.#past.learn(number, explainBlock(rows, this.#address), this.#from))
      .finally(() => {
        if (this.#reading.get(number) === reading) this.#reading.delete(number)
      })
    // It is awaited once nothing else can be asked; what has failed by then is read again.
    reading.catch(() => undefined)
    this.#reading.set(number, reading)
  }

  async #lookUp(nonces: readonly bigint[], signal: AbortSignal): Promise<void> {
    const numbers = (await this.#options.state.lookUp?.(nonces, signal)) ?? []
    for (const nonce of nonces) this.#asked.add(nonce)
    this.#past.locate(nonces, numbers, this.#from)
  }

  /** Takes all that is explained by what is known. @returns what has to be read once more before more is believed. */
  #believe(): readonly StateRead[] {
    if (!this.#isOpen && !this.#open()) return []
    for (;;) {
      const top = this.#from - 1
      const again = this.#settle(top)
      if (this.#from > top || this.#isOver) return again
      this.#past.cutAbove(this.#from - 1)
    }
  }

  #settle(top: number): readonly StateRead[] {
    if (!this.#hasKey) {
      const { hasKey, again, reason } = findKey(this.#past, top)
      this.#hasKey = hasKey
      this.#stop(reason)
      if (!hasKey) return again
    }
    const { again, reason } = settlePast(this.#past, top, (...kept) => this.#keep(...kept))
    this.#stop(reason)
    return again
  }

  /** @param nonce - of the account before `from`. */
  #keep(blocks: readonly SoundBlock[], from: number, nonce: bigint): void {
    if (this.#isOver) return
    this.#from = from
    this.#past.known.nonce.conclude(from - 1, nonce)
    for (const { height, effect } of blocks) {
      const { records, change } = effect
      const hasRecords = records.length > 0
      this.#past.effects.delete(height)
      this.#fruitless.note(height, { hasRecords, isPaid: change > 0n })
      if (this.#fruitless.problem !== undefined) break
      if (!hasRecords) continue
      this.#isFruitful = true
      this.#found.push({ number: height, hashes: [], candidates: [], records })
    }
    if (this.#fruitless.problem === undefined) return
    this.#from = this.#fruitless.above
    // Whoever has a key is refused: a list that ends there would be as long as the blocks that pay.
    if (this.#isKeyless) this.end = { from: this.#from, reason: 'no-key' }
  }
}
