const grouped = new Intl.NumberFormat(undefined, { numberingSystem: 'latn' })
const decimalSign = grouped.formatToParts(1.1).find(({ type }) => type === 'decimal')?.value ?? '.'

/**
 * An amount with all of its digits, in the form that other programs read: `1234.5`, no grouping.
 *
 * @param value - In base units, negative too.
 */
export function exactAmount(value: bigint, decimals: number): string {
  const { whole, fraction } = parts(value, decimals)
  return `${value < 0n ? '-' : ''}${whole}${fraction === '' ? '' : `.${fraction}`}`
}

/**
 * An amount for the eye: grouped by locale, cut (never rounded up) after `maxFraction` digits.
 *
 * @returns With a leading `<` where cutting would leave a zero of something that is none.
 */
export function shownAmount(value: bigint, decimals: number, maxFraction = 6): string {
  const { sign, whole, fraction } = parts(value, decimals)
  const cut = fraction.slice(0, maxFraction).replace(/0+$/, '')
  if (whole === '0' && cut === '' && fraction !== '') {
    return `${sign}<\u202f0${decimalSign}${'0'.repeat(Math.max(0, maxFraction - 1))}1`
  }
  return `${sign}${grouped.format(BigInt(whole))}${cut === '' ? '' : decimalSign + cut}`
}

/** A whole number grouped by locale. */
export function shownInteger(value: number | bigint): string {
  return grouped.format(value)
}

/** Hundredths of a currency with two decimal places, grouped by locale. */
export function shownValue(hundredths: bigint): string {
  return `${grouped.format(hundredths / 100n)}${decimalSign}${(hundredths % 100n).toString().padStart(2, '0')}`
}

function parts(value: bigint, decimals: number) {
  const digits = (value < 0n ? -value : value).toString().padStart(decimals + 1, '0')
  return {
    sign: value < 0n ? '\u2212' : '',
    whole: digits.slice(0, digits.length - decimals),
    fraction: decimals === 0 ? '' : digits.slice(-decimals).replace(/0+$/, '')
  }
}
