/** Markup that may be shown as it is. */
export class Html {
  readonly markup: string
  constructor(markup: string) {
    this.markup = markup
  }
}

/** What may stand in a template; nothing is written for `undefined` and `false`. */
export type HtmlPart = string | number | false | Html | undefined | readonly HtmlPart[]

/** Markup from a template: every string in it is escaped, for text and for quoted attributes alike. */
export function html(parts: TemplateStringsArray, ...values: readonly HtmlPart[]): Html {
  return new Html(parts.reduce((markup, part, place) => markup + write(values[place - 1]) + part))
}

function write(value: HtmlPart): string {
  if (value === undefined || value === false) return ''
  if (value instanceof Html) return value.markup
  if (typeof value === 'object') return value.map(write).join('')
  return String(value).replace(/[&<>"']/g, character => `&#${character.charCodeAt(0)};`)
}
