import type { Audit } from './Audit.ts'
import type { Examination } from './examineBlock.ts'
import type { Quantity } from './readLedger.ts'

/** A block after which state and index differ in another way than before, and what was found there. */
export interface FollowedChange {
  readonly height: number
  /** What the difference between state and index became greater by. */
  readonly gained: bigint
  readonly examination: Examination
}

/** Why a difference was not followed to its end; `done`: it was. */
export type FollowEnd = 'done' | 'unreadable' | 'stopped'

export interface FollowPlan {
  readonly quantity: Quantity
  /** Of the state after each block. */
  read(heights: readonly number[]): Promise<readonly (bigint | undefined)[]>
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
    const found = await audit.find(
      {
        quantity,
        read: async heights =>
          (await read(heights)).map(amount => (amount === undefined ? undefined : amount - above))
      },
      { low, high: to, offset: 0n, highDifference: left }
    )
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
