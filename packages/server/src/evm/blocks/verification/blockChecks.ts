import type { ErrorContext } from '@chain-data/index'
import { maxReasonLength, type WaivableCheck, type Waiver } from '../../../model/waivableChecks.ts'
import { NodeContradictionError } from '../../../platform/errors.ts'
import type { Waivers } from './contradiction.ts'

/** A check that a block breaks and that is not waived. */
export interface BrokenCheck {
  readonly check: WaivableCheck
  /** Names the first part of the block that breaks it, and the disagreement; without the block. */
  readonly what: string
  /** Number of parts that break it. */
  readonly count: number
}

/** A block breaks checks that real chains break too: the node is wrong, or the chain needs waivers. */
export class BrokenChecksError extends NodeContradictionError {
  /** Each check once, in the order of the verification; never empty. */
  readonly broken: readonly BrokenCheck[]
  /** The waivers that would let the block pass, for this block alone. */
  readonly waivers: readonly Waiver[]

  constructor(blockNumber: number, broken: readonly BrokenCheck[], context: ErrorContext = {}) {
    super(describeBroken(blockNumber, broken), { ...context, blockNumber })
    this.broken = broken
    this.waivers = broken.map(({ check, what }) => ({
      check,
      reason: what.slice(0, maxReasonLength),
      fromBlock: blockNumber,
      toBlock: blockNumber
    }))
  }
}

/** The effects of waivers that let a part of a block count as unknown. */
const effects: Readonly<Partial<Record<WaivableCheck, string>>> = {
  unknownReceipt: ' indexes the transaction with its receipt unknown',
  unknownBlock: ' indexes the block with its receipts, or its transactions, unknown'
}

/** Names the checks before their details, since a reader may cut the text. */
function describeBroken(blockNumber: number, broken: readonly BrokenCheck[]): string {
  const details = broken.map(({ check, what, count }) => {
    const others = count === 1 ? '' : ` and ${count - 1} more`
    return `${what}${others} (waiver ${check}${effects[check] ?? ''})`
  })
  const names = broken.map(({ check }) => check).join(', ')
  const summary = broken.length === 1 ? '' : `breaks ${broken.length} checks: ${names}; `
  return `block ${blockNumber}: ${summary}${details.join('; ')}`
}

/** Collects the checks that one block breaks, so that all of them are reported together. */
export class BlockChecks {
  readonly #number: number
  readonly #waivers: Waivers
  readonly #broken = new Map<WaivableCheck, BrokenCheck>()

  /** @param broken - found in an earlier part of the verification. */
  constructor(blockNumber: number, waivers: Waivers, broken: readonly BrokenCheck[] = []) {
    this.#number = blockNumber
    this.#waivers = waivers
    for (const each of broken) this.#broken.set(each.check, each)
  }

  /** Reports whether this block may break a check; `true` counts as a use of the waiver. */
  passes(check: WaivableCheck): boolean {
    return this.#waivers.passes(check, this.#number)
  }

  /** Records a broken check, unless it is waived for this block. The caller goes on as if it were. */
  broke(check: WaivableCheck, what: string): void {
    if (this.passes(check)) return
    const earlier = this.#broken.get(check)
    const first = earlier?.what ?? what.replace(new RegExp(`^block ${this.#number}:? `), '')
    this.#broken.set(check, { check, what: first, count: (earlier?.count ?? 0) + 1 })
  }

  list(): readonly BrokenCheck[] {
    return [...this.#broken.values()]
  }

  /** @throws {BrokenChecksError} the block breaks a check that is not waived. */
  expectNone(): void {
    if (this.#broken.size > 0) throw new BrokenChecksError(this.#number, this.list())
  }

  /**
   * Adds to a failure the waiver that lets what contradicts the block count as unknown, and the checks that were broken before.
   * A node without the receipts most likely lags, so that the waiver is only mentioned; a root has a setting of its own.
   */
  explain(failure: unknown): unknown {
    if (!(failure instanceof NodeContradictionError) || failure instanceof BrokenChecksError) return failure
    const { isMissing, ofRoot, receiptOf } = failure.context
    if (!isMissing && !ofRoot) {
      this.broke(receiptOf === undefined ? 'unknownBlock' : 'unknownReceipt', failure.message)
      return this.#broken.size === 0
        ? failure
        : new BrokenChecksError(this.#number, this.list(), failure.context)
    }
    const names = [...this.#broken.keys()].join(', ')
    const also = names === '' ? '' : `; it also breaks ${names}`
    const waiver = ofRoot ? '' : `; if no node has them, the waiver unknownBlock${effects.unknownBlock}`
    return new NodeContradictionError(failure.message + waiver + also, failure.context)
  }
}
