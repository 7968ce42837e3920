/** Longest display copy, in code points. */
const maxCodePoints = 255

/**
 * Controls and line separators, format characters (zero-width, bidirectional overrides, tags), lone surrogates,
 * private use, fillers and variation selectors: what makes two different names look alike, or one name look like
 * something it does not say.
 */
const unseen = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu

/**
 * A copy of a contract's or a stranger's text that is safe to show: without characters that one cannot see, trimmed,
 * at most 255 code points.
 * @remarks Emoji joined by zero-width joiners fall apart into their parts.
 */
export function displayText(text: string): string {
  // Cut roughly first, so that a hostile text costs no more than an honest one.
  const visible = text
    .slice(0, maxCodePoints * 8)
    .replace(unseen, '')
    .trim()
  const codePoints = [...visible]
  return codePoints.length <= maxCodePoints ? visible : codePoints.slice(0, maxCodePoints).join('')
}
