import type { Heights, Ledger, Quantity } from './readLedger.ts'

/** A quantity of an account, and how it is read from the chain's state. */
export interface Followed {
  readonly quantity: Quantity
  /** For each height the amount after that block; absent where the node does not have the state. */
  read(heights: readonly number[]): Promise<readonly (bigint | undefined)[]>
}

/** The block where state and index begin to differ. */
export type FoundChange =
  /** The difference after this block is another one than after the block before. */
  | { readonly kind: 'block'; readonly height: number; readonly difference: bigint }
  /** The node does not have the state between these heights. */
  | { readonly kind: 'unreadable' }

/** The difference is known at both ends, and not the same there. */
export interface Differing extends Heights {
  /** State less index after `low`, as far as the index is added up above `low`. */
  readonly offset: bigint
  readonly highDifference: bigint
}

/** Heights that are read in one exchange. */
const readsPerRound = 7

/**
 * Searches for a block where the difference between state and index changes. The index is added up above `range.low`.
 *
 * @param readIndex - what the index knows of the quantity above one height, up to another.
 * @param readState - as `Followed.read`.
 * @remarks Some eight exchanges for ten million blocks. Where the difference comes and goes, one of its changes is found.
 */
export async function findChange(
  readIndex: (heights: Heights) => Promise<Ledger>,
  readState: Followed['read'],
  range: Differing
): Promise<FoundChange> {
  let { low, high, highDifference } = range
  let before = 0n
  let ledger = await readIndex(range)
  while (high - low > 1) {
    const heights = knownHeights(ledger, low, high)
    if (heights.length === 0) {
      // All that is left lies within blocks that are kept as one: those alone are kept in smaller ones.
      before += ledger.at(low) ?? 0n
      ledger = await readIndex({ low, high })
      continue
    }
    const amounts = await readState(heights)
    for (const [place, height] of heights.entries()) {
      const amount = amounts[place]
      if (amount === undefined) return { kind: 'unreadable' }
      const difference = amount - before - (ledger.at(height) ?? 0n)
      if (difference === range.offset) low = height
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
