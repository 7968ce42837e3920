/** Where the lines of an axis lie, and how many decimal digits tell them apart. */
export interface AxisTicks {
  readonly values: readonly bigint[]
  readonly fraction: number
}

/**
 * Round values between two amounts.
 *
 * @param most - How many there may be.
 * @param decimals - Of the unit.
 * @returns In steps of 1, 2 or 5 of some power of ten; at least one value.
 */
export function axisTicks(low: bigint, high: bigint, most: number, decimals: number): AxisTicks {
  const step = roundStep((high - low) / BigInt(most) + 1n)
  const values: bigint[] = []
  for (let value = ceilTo(low, step); value <= high; value += step) values.push(value)
  if (values.length === 0) values.push(low)
  const zeros = /0*$/.exec(String(step))?.[0].length ?? 0
  return { values, fraction: Math.max(0, decimals - zeros) }
}

/** The least of 1, 2, 5, 10, 20, … that is not below `least`. */
function roundStep(least: bigint): bigint {
  for (let power = 1n; ; power *= 10n) {
    for (const factor of [1n, 2n, 5n]) if (power * factor >= least) return power * factor
  }
}

function ceilTo(value: bigint, step: bigint): bigint {
  return ((value + step - 1n) / step) * step
}
