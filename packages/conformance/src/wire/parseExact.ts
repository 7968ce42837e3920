/** An integer or fraction whose digits a JavaScript number would not keep. */
export class ExactNumber {
  /** The number as it was written. */
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/** A number too long for a double, or with more than digits; or a text that looks like it. */
const suspicious = /(?:^|[:[,])\s*-?(?:\d{16}|\d+[.eE]|(?<=-)0)/

const mark = '\u0000exact:'

/**
 * Reads JSON without losing digits: a number that does not come back from `String(Number(text))` as it was written
 * becomes an {@link ExactNumber}.
 *
 * @throws {SyntaxError} The text is no JSON.
 */
export function parseExact(text: string): unknown {
  // Marking would mend numbers that are none; and most texts have no number that would have to be marked.
  const read: unknown = JSON.parse(text)
  if (!suspicious.test(text)) return read
  const marked = text.replace(/"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g, token =>
    token.startsWith('"') || String(Number(token)) === token ? token : JSON.stringify(mark + token)
  )
  return JSON.parse(marked, (_key, value: unknown) =>
    typeof value === 'string' && value.startsWith(mark) ? new ExactNumber(value.slice(mark.length)) : value
  )
}

/** The digits of a number out of {@link parseExact}; `undefined` for anything else. */
export function digitsOf(value: unknown): string | undefined {
  if (value instanceof ExactNumber) return value.text
  return typeof value === 'number' ? String(value) : undefined
}
