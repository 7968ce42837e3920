/**
 * Text of strangers for one line: control characters and those that turn the direction of writing or are invisible are
 * taken out, blanks are joined, and what is longer than `limit` ends in an ellipsis.
 */
export function cutText(text: string, limit: number): string {
  // A million characters are not looked at one by one for the sake of the first hundred.
  const clean = text
    .slice(0, limit * 8)
    .replace(/\s+/gu, ' ')
    .replace(/[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Cs}]/gu, '')
    // More marks than any script stacks on one letter.
    .replace(/(\p{M}{3})\p{M}+/gu, '$1')
    .trim()
  const characters = [...clean]
  return characters.length > limit ? `${characters.slice(0, limit - 1).join('')}…` : clean
}
