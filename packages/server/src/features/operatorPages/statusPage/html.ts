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

/** The parts that are to be shown, with commas between. */
export function list(parts: readonly HtmlPart[]): HtmlPart {
  const shown = parts.filter(part => part !== false && part !== undefined)
  return shown.map((part, index) => [index > 0 && ', ', part])
}

/** The value as it is shown; `undefined` while it is not known. */
export function known<T>(value: T | undefined, show: (value: T) => HtmlPart): HtmlPart {
  return value === undefined ? undefined : show(value)
}

/** Hours and minutes in UTC; the page's script shows them in the reader's time zone, with the date in the title. */
export function clock(unixSeconds: number): Html {
  const iso = new Date(unixSeconds * 1_000).toISOString()
  return html`<time datetime="${iso}">${iso.slice(11, 16)} UTC</time>`
}

/** A number in English with at most one decimal, or two digits below 1; the page's script writes it as its reader does. */
export function number(value: number): Html {
  const format = value < 1 ? { maximumSignificantDigits: 2 } : { maximumFractionDigits: 1 }
  const text = value.toLocaleString('en', format)
  return html`<data value="${text.replaceAll(',', '')}">${text}</data>`
}

/** A rate, size or duration, without more digits than it deserves. */
export const short = (value: number): Html => number(value >= 10 ? Math.round(value) : value)

/** `1 block`, `2 blocks`. */
export function count(value: number, noun: string): Html {
  return html`${number(value)} ${noun}${value !== 1 && 's'}`
}

/** In KiB, MiB or GiB. */
export function bytes(value: number): Html {
  if (value >= 2 ** 30) return html`${short(value / 2 ** 30)} GiB`
  return value >= 2 ** 20 ? html`${short(value / 2 ** 20)} MiB` : html`${short(value / 2 ** 10)} KiB`
}

/** In the largest unit that fits and the next one: `2 d 4 h`. */
export function duration(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds))
  const [minutes, hours] = [Math.floor(whole / 60), Math.floor(whole / 3_600)]
  if (minutes === 0) return `${whole} s`
  if (hours === 0) return `${minutes} min`
  if (hours < 24) return `${hours} h${minutes % 60 === 0 ? '' : ` ${minutes % 60} min`}`
  return `${Math.floor(hours / 24)} d${hours % 24 === 0 ? '' : ` ${hours % 24} h`}`
}
