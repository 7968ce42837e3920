// A text, which is skipped as a whole, or a long number with what follows it.
const textOrLongNumber = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d{16,}(?![\d.eE])/g

/**
 * Reads JSON without losing a digit, on runtimes whose `JSON.parse` does not show its source text: whole numbers of 16 and
 * more digits are read as texts.
 *
 * @param text - Is JSON: `JSON.parse` has read it.
 */
export function readExactJson(text: string): unknown {
  return JSON.parse(text.replace(textOrLongNumber, found => (found.startsWith('"') ? found : `"${found}"`)))
}
