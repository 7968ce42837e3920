import type { DeepRecord } from '@chain-data/index'
import { NodeContradictionError } from '../../../platform/errors.ts'
import type { OldState, StateRead } from './state/createOldState.ts'
import { type Reading, Readings } from './state/Readings.ts'

/** Heights that one stretch is asked about in one exchange. */
const probes = 15
/** Answers that contradict earlier ones; more of them, and the nodes are of no use. */
const maxCorrections = 16

/** Blocks from `from` up to, and without, `below`. */
interface Stretch {
  readonly from: number
  readonly below: number
}

/**
 * Finds blocks in which an account used nonces by something that no index of addresses names: an authorization (EIP-7702) that
 * somebody else sent, or a transaction that the node left out. Wherever the nonce grew by more than the account's known
 * transactions, the growth is followed to its block.
 */
export class UnlistedSearch {
  /** The account's records of such blocks that were read and not kept yet. */
  readonly records = new Map<number, readonly DeepRecord[]>()
  readonly #state: OldState
  readonly #nonces = new Readings()
  readonly #codes = new Readings()
  #corrections = 0

  constructor(state: OldState) {
    this.#state = state
  }

  /** Reads the nonces at both ends of a stretch, which `find` needs. */
  async readEnds(stretch: Stretch, signal: AbortSignal): Promise<void> {
    const { low, high } = endsOf(stretch)
    const reads = [low, high].filter(height => this.#nonces.at(height) === undefined)
    await this.#read(
      reads.map(height => ({ kind: 'nonce', height })),
      signal
    )
  }

  /**
   * @param sent - the block of each known transaction that the account sent.
   * @returns the blocks that used more nonces than that; none for a contract, which uses them for what it creates.
   */
  async find(stretch: Stretch, sent: readonly number[], signal: AbortSignal): Promise<readonly number[]> {
    const { high } = endsOf(stretch)
    for (;;) {
      await this.readEnds(stretch, signal)
      const growths = this.#growthsIn(stretch, sent)
      if (growths.length === 0) return []
      if (this.#codes.at(high) === undefined) await this.#read([{ kind: 'code', height: high }], signal)
      if (this.#codes.at(high)?.value === 2n) return []
      const reads = growths.flatMap(growth => this.#readsFor(growth))
      if (reads.length === 0) return growths.map(growth => growth.high.height)
      await this.#read(reads, signal)
    }
  }

  /** Where the nonce grew by more than transactions did, between adjacent readings. */
  #growthsIn(stretch: Stretch, sent: readonly number[]) {
    const { low, high } = endsOf(stretch)
    const growths: { readonly low: Reading; readonly high: Reading }[] = []
    let upper = this.#nonces.at(high)
    while (upper !== undefined && upper.height > low) {
      const lower = this.#nonces.before(upper.height)
      if (lower === undefined) break
      const [after, before] = [lower.height, upper.height]
      const known = sent.filter(height => height > after && height <= before).length
      if (upper.value - lower.value > BigInt(known)) growths.push({ low: lower, high: upper })
      upper = lower
    }
    return growths
  }

  /** An answer may be of another height: one block's growth is believed when both sides were answered twice. */
  #readsFor({ low, high }: { readonly low: Reading; readonly high: Reading }): readonly StateRead[] {
    const blocks = high.height - low.height
    const heights =
      blocks === 1
        ? [low.height, high.height].filter(height => !this.#nonces.isSettled(height))
        : Array.from(
            { length: Math.min(probes, blocks - 1) },
            (_, position) =>
              low.height + Math.floor((blocks * (position + 1)) / (Math.min(probes, blocks - 1) + 1))
          )
    return heights.map(height => ({ kind: 'nonce', height }))
  }

  async #read(reads: readonly StateRead[], signal: AbortSignal): Promise<void> {
    if (reads.length === 0) return
    await this.#state.read(reads, signal, ({ kind, height }, value) => {
      const readings = kind === 'code' ? this.#codes : this.#nonces
      if (readings.note(height, value)) this.#corrections++
    })
    if (this.#corrections > maxCorrections)
      throw new NodeContradictionError('the nodes give other answers about the same old state each time')
  }
}

/** Nothing happens in the genesis block. */
function endsOf({ from, below }: Stretch) {
  return { low: Math.max(0, from - 1), high: Math.max(0, below - 1) }
}
