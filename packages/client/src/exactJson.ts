/** JSON in two readings that differ only in the numbers that `JSON.parse` may round. */
export interface ExactJson {
  /** As `JSON.parse` reads it; `undefined` for what is not JSON, which has no such value. */
  readonly plain?: unknown
  /** The same with whole numbers of 16 and more digits as texts. */
  readonly exact?: unknown
}

// Where none of these is, both readings are the same; a hit inside a text only costs the second reading.
const longNumber = /[:[,]\s*-?\d{16}/
// A text, which is skipped as a whole, or a long number with what follows it.
const textOrLongNumber = /"[^"\\]*(?:\\.[^"\\]*)*"|(-?\d{16,})(?![\d.eE])/g

/** Reads JSON without losing a digit, on runtimes whose `JSON.parse` does not show its source text. */
export function readExactJson(text: string): ExactJson {
  try {
    const plain: unknown = JSON.parse(text)
    if (!longNumber.test(text)) return { plain, exact: plain }
    const quoted = text.replace(textOrLongNumber, (found, digits) => (digits ? `"${digits}"` : found))
    return { plain, exact: JSON.parse(quoted) }
  } catch {
    // The message of a syntax error quotes the text.
    return {}
  }
}
