/**
 * What an amount is worth, in hundredths of the currency, rounded half up. All digits take part: nothing is computed with floating point.
 *
 * @param amount - In base units, not negative.
 * @param price - Of one whole unit, as the service gives it; absent where it has none.
 * @returns Absent without a price, or with one that is no decimal number.
 */
export function computeValue(
  amount: bigint,
  decimals: number,
  price: string | undefined
): bigint | undefined {
  const [, whole, fraction = ''] = /^(\d{1,30})(?:\.(\d{1,36}))?$/.exec(price ?? '') ?? []
  if (whole === undefined) return undefined
  const scale = 10n ** BigInt(decimals + fraction.length)
  return (amount * BigInt(whole + fraction) * 200n + scale) / (2n * scale)
}
