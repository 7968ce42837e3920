/** How the reader of the page writes numbers and times. */
export interface Format {
  /** Grouped by thousands; at most `digits` after the point. */
  number(value: number, digits?: number): string
  /** Hours and minutes. */
  clock(seconds: number): string
  /** Date and time, for a title. */
  moment(seconds: number): string
  /** In the largest unit that fits and the next one. */
  duration(seconds: number): string
  /** `1 block`, `2 blocks`. */
  count(value: number, noun: string): string
  /** A rate or duration of any size, without more digits than it deserves. */
  short(value: number): string
  /** `20M`, for an axis. */
  compact(value: number): string
  bytes(value: number): string
}

/** @param locale - of the numbers; the words are English. Absent, like `timeZone`: those of the machine. */
export function createFormat(locale?: string, timeZone?: string): Format {
  const zone = timeZone === undefined ? {} : { timeZone, timeZoneName: 'short' as const }
  const clocks = new Intl.DateTimeFormat(locale, {
    hour: '2-digit',
    minute: '2-digit',
    hour12: false,
    ...zone
  })
  const moments = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'long', timeZone })
  const numbers = [0, 1, 2, 3].map(digits => new Intl.NumberFormat(locale, { maximumFractionDigits: digits }))
  const smalls = new Intl.NumberFormat(locale, { maximumSignificantDigits: 2 })
  const compacts = new Intl.NumberFormat(locale, { notation: 'compact', maximumSignificantDigits: 3 })
  const number = (value: number, digits = 0) =>
    (numbers[digits] ?? numbers[0])?.format(value) ?? String(value)
  return {
    number,
    clock: seconds => clocks.format(seconds * 1_000),
    moment: seconds => moments.format(seconds * 1_000),
    duration,
    count: (value, noun) => `${number(value)} ${noun}${value === 1 ? '' : 's'}`,
    short: value => (value >= 10 ? number(value) : value >= 1 ? number(value, 1) : smalls.format(value)),
    compact: value => compacts.format(value),
    bytes(value) {
      if (value >= 2 ** 30) return `${number(value / 2 ** 30, 1)} GiB`
      return value >= 2 ** 20 ? `${number(value / 2 ** 20)} MiB` : `${number(value / 2 ** 10)} KiB`
    }
  }
}

const units = [
  ['d', 86_400],
  ['h', 3_600],
  ['min', 60],
  ['s', 1]
] as const

function duration(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds))
  const first = units.findIndex(([, size]) => whole >= size)
  if (first < 0) return '0 s'
  const [unit, size] = units[first] ?? units[3]
  const rest = units[first + 1]
  const more = rest === undefined || unit === 'min' ? 0 : Math.floor((whole % size) / rest[1])
  return `${Math.floor(whole / size)} ${unit}${more > 0 && rest !== undefined ? ` ${more} ${rest[0]}` : ''}`
}
