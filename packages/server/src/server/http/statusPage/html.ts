/** Markup that may be shown as it is. */
export class Html {
  readonly markup: string
  constructor(markup: string) {
    this.markup = markup
  }
}

/** A value in a template; nothing is written for `undefined` and `false`. */
export type HtmlPart = string | number | false | Html | undefined | readonly HtmlPart[]

/** Markup from a template: every string in it is escaped, for text and for quoted attributes alike. */
export function html(parts: TemplateStringsArray, ...values: readonly HtmlPart[]): Html {
  return new Html(parts.reduce((markup, part, index) => markup + write(values[index - 1]) + part))
}

function write(value: HtmlPart): string {
  if (value === undefined || value === false) return ''
  if (value instanceof Html) return value.markup
  if (typeof value === 'object') return value.map(write).join('')
  return String(value).replace(/[&<>"']/g, character => `&#${character.charCodeAt(0)};`)
}

const clocks = new Intl.DateTimeFormat('en', {
  ...{ hour: '2-digit', minute: '2-digit', hourCycle: 'h23', timeZone: 'UTC', timeZoneName: 'short' }
})
const moments = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'long', timeZone: 'UTC' })

/** Hours and minutes in UTC, the date in the title; the page's script shows both in the reader's time zone. */
export function clock(unixSeconds: number): Html {
  const date = new Date(unixSeconds * 1_000)
  return html`<time datetime="${date.toISOString()}" title="${moments.format(date)}">${clocks.format(date)}</time>`
}

const integers = new Intl.NumberFormat('en', { maximumFractionDigits: 0 })
const decimals = new Intl.NumberFormat('en', { maximumFractionDigits: 1 })
const smalls = new Intl.NumberFormat('en', { maximumSignificantDigits: 2 })
const compacts = new Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 3 })

/** A whole number, grouped by thousands; the page's script writes it as its reader does. */
export function number(value: number, format = integers): Html {
  const text = format.format(value)
  return html`<data value="${text.replaceAll(',', '')}">${text}</data>`
}

/** A number with at most one decimal. */
export function decimal(value: number): Html {
  return number(value, decimals)
}

/** A rate or duration of any size, without more digits than it deserves. */
export function short(value: number): Html {
  return number(value, value >= 10 ? integers : value >= 1 ? decimals : smalls)
}

/** `1 block`, `2 blocks`. */
export function count(value: number, noun: string): Html {
  return html`${number(value)} ${noun}${value === 1 ? '' : 's'}`
}

/** `20M`, for an axis. */
export function compact(value: number): string {
  return compacts.format(value)
}

/** In KiB, MiB or GiB. */
export function bytes(value: number): Html {
  if (value >= 2 ** 30) return html`${decimal(value / 2 ** 30)} GiB`
  return value >= 2 ** 20 ? html`${number(value / 2 ** 20)} MiB` : html`${number(value / 2 ** 10)} KiB`
}

const units = [
  ['d', 86_400],
  ['h', 3_600],
  ['min', 60],
  ['s', 1]
] as const

/** In the largest unit that fits and the next one: `2 d 4 h`. */
export function duration(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds))
  const first = units.findIndex(([, size]) => whole >= size)
  if (first < 0) return '0 s'
  const [unit, size] = units[first] ?? units[3]
  const next = units[first + 1]
  const more = next === undefined || unit === 'min' ? 0 : Math.floor((whole % size) / next[1])
  return `${Math.floor(whole / size)} ${unit}${more > 0 && next !== undefined ? ` ${more} ${next[0]}` : ''}`
}
