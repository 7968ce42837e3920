import type { Audit } from './Audit.ts'
import type { Examination } from './examineBlock.ts'
import type { Heights, Ledger, Quantity } from './readLedger.ts'

/** A block after which state and index differ in another way than before, and what was found there. */
export interface FollowedChange {
  readonly height: number
  /** The increase of the difference between state and index. */
  readonly gained: bigint
  readonly examination: Examination
}

/** The reason why a difference was not followed to its end; `done`: it was. */
type FollowEnd = 'done' | 'unreadable' | 'stopped'

interface FollowPlan {
  readonly quantity: Quantity
  readonly read: ReadState
  /** The state at the opening. */
  readonly opening: bigint
  /** State less index after the newest block. */
  readonly difference: bigint
  readonly maxChanges: number
}

/**
 * Follows a difference to the blocks where it came about, one after the other from the oldest, and has each examined.
 * @returns `gained` of all changes is the difference when `end` is `done`.
 */
export async function followDifference(
  audit: Audit,
  { quantity, read, opening, difference, maxChanges }: FollowPlan
): Promise<{ readonly changes: readonly FollowedChange[]; readonly end: FollowEnd }> {
  const { openingHeight, to } = audit.indexed
  const changes: FollowedChange[] = []
  let low = openingHeight
  let left = difference
  let base = opening
  while (left !== 0n) {
    if (changes.length >= maxChanges || !audit.mayFollow()) return { changes, end: 'stopped' }
    const above = base
    const readAbove: ReadState = async heights =>
      (await read(heights)).map(amount => (amount === undefined ? undefined : amount - above))
    const found = await findChange(audit, quantity, readAbove, { low, high: to, highDifference: left })
    if (found.kind === 'unreadable') return { changes, end: 'unreadable' }
    const { height, difference: gained } = found
    const [amount] = await read([height])
    if (amount === undefined) return { changes, end: 'unreadable' }
    changes.push({ height, gained, examination: await audit.examine(height) })
    low = height
    base = amount
    left -= gained
  }
  return { changes, end: 'done' }
}

/** Reads for each height the amount after that block; absent where the node does not have the state. */
type ReadState = (heights: readonly number[]) => Promise<readonly (bigint | undefined)[]>

/** The block where state and index begin to differ. */
type FoundChange =
  /** The difference after this block is another one than after the block before. */
  | { readonly kind: 'block'; readonly height: number; readonly difference: bigint }
  /** The node does not have the state between these heights. */
  | { readonly kind: 'unreadable' }

/** State and index do not differ after `low`, from where on the index is added up, and do after `high`. */
interface Differing extends Heights {
  /** State less index after `high`. */
  readonly highDifference: bigint
}

/** Heights that are read in one exchange. */
const readsPerRound = 7

/**
 * Searches for a block where the difference between state and index changes.
 *
 * @remarks Some eight exchanges for ten million blocks. Where the difference comes and goes, one of its changes is found.
 */
export async function findChange(
  audit: Audit,
  quantity: Quantity,
  readState: ReadState,
  range: Differing
): Promise<FoundChange> {
  let { low, high, highDifference } = range
  let before = 0n
  let ledger = await audit.readLedger(quantity, range)
  while (high - low > 1) {
    const heights = knownHeights(ledger, low, high)
    if (heights.length === 0) {
      // All that is left lies within blocks that are kept as one: those alone are kept in smaller ones.
      before += ledger.at(low) ?? 0n
      ledger = await audit.readLedger(quantity, { low, high })
      continue
    }
    const amounts = await readState(heights)
    for (const [place, height] of heights.entries()) {
      const amount = amounts[place]
      if (amount === undefined) return { kind: 'unreadable' }
      const difference = amount - before - (ledger.at(height) ?? 0n)
      if (difference === 0n) low = height
      else {
        high = height
        highDifference = difference
        break
      }
    }
  }
  return { kind: 'block', height: high, difference: highDifference }
}

/** Ascending, between the ends, evenly spread where it can be. */
function knownHeights(ledger: Ledger, low: number, high: number): readonly number[] {
  const step = (high - low) / (readsPerRound + 1)
  const spread = Array.from({ length: readsPerRound }, (_, place) => Math.round(low + step * (place + 1)))
  const isKnown = (height: number) => height > low && height < high && ledger.at(height) !== undefined
  const heights = spread.filter(isKnown)
  const chosen =
    heights.length > 0 ? heights : ledger.edgesAround(Math.floor((low + high) / 2)).filter(isKnown)
  return [...new Set(chosen)].sort((a, b) => a - b)
}
