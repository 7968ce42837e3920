import { ConfigError } from '../../platform/errors.ts'

/**
 * The value of a JSON text; a byte order mark before it is left out.
 *
 * @param name - what the text is, as it begins a sentence: `Config file "x.json"`.
 * @throws {ConfigError} it is no JSON; the message tells the place and quotes nothing of what may be a key.
 */
export function parseJson(text: string, name: string): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ''))
  } catch (error) {
    // V8's message quotes the text around the mistake: keep only the place.
    const message = error instanceof Error ? error.message : ''
    const place = /at position \d+( \(line \d+ column \d+\))?/.exec(message)?.[0] ?? 'before its end'
    throw new ConfigError(`${name} is not JSON: unexpected text ${place}. Expected one JSON object.`)
  }
}
