/** Longer spellings of an integer within 2^53 exist, but nobody writes them in good faith. */
const longestSpelling = 40

/**
 * The integer that a JSON number's text stands for, judged by its digits: `1.0` and `1e3` are integers,
 * `9007199254740993` and `1.00000000000000000001` are not safe ones although JSON.parse makes them so.
 *
 * @returns `undefined` when it is no integer within ±(2^53-1).
 */
export function exactInteger(numberText: string): number | undefined {
  if (/^-?\d{1,15}$/.test(numberText)) return Number(numberText)
  if (numberText.length > longestSpelling) return undefined
  const match = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,2}))?$/.exec(numberText)
  if (!match) return undefined
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = match
  const shift = Number(exponent) - fraction.length
  const digits = BigInt(whole + fraction)
  const scale = 10n ** BigInt(Math.abs(shift))
  if (shift < 0 && digits % scale !== 0n) return undefined
  const magnitude = shift < 0 ? digits / scale : digits * scale
  if (magnitude > BigInt(Number.MAX_SAFE_INTEGER)) return undefined
  return Number(sign === '-' ? -magnitude : magnitude)
}
