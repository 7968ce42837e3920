import { stripVTControlCharacters } from 'node:util'

/** Control, format (bidi overrides, zero-width), surrogate, private and unassigned characters, line separators. */
const unprintable = /[\p{C}\u2028\u2029]/gu

/** More marks than any script stacks on one letter. */
const stackedMarks = /(\p{M}{3})\p{M}+/gu

/**
 * Text from a chain or a stranger's server, made fit for a terminal: it cannot move the cursor, colour, reorder or
 * hide anything, and it stays on its line.
 *
 * @param limit - Characters to keep; what is longer ends in an ellipsis.
 */
export function safeText(text: string, limit = 40): string {
  const clean = stripVTControlCharacters(text)
    .replace(/\s+/gu, ' ')
    .replace(unprintable, '')
    .replace(stackedMarks, '$1')
    .trim()
  const characters = [...clean]
  return characters.length > limit ? `${characters.slice(0, limit - 1).join('')}…` : clean
}

/** An address or hash short enough for a column, its both ends kept. */
export function shorten(identifier: string): string {
  const clean = safeText(identifier, 100)
  return clean.length > 13 ? `${clean.slice(0, 6)}…${clean.slice(-4)}` : clean
}
