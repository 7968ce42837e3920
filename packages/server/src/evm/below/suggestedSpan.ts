/**
 * Words in which known nodes and providers say how many blocks they take at once, as their documentation and public reports
 * have them; the test beside this file holds the full texts. Whatever else they say is answered by halving.
 */
const spanPatterns: readonly RegExp[] = [
  /(?:up to|limited to|at most|max(?:imum)?)\D{0,20}?(\d[\d,_]*)[ -]*blocks?/i,
  /block range\D{0,40}?(\d[\d,_]*)(?![\d,_]|\s*(?:results|logs|entries|bytes))/i,
  /(\d[\d,_]*) block(?:s? range|s? limit)/i
]
const rangePattern = /\[?(0x[0-9a-f]+)\s*(?:,|-|to)\s*(0x[0-9a-f]+)\]?/i
const mostBlocks = 10_000_000

/**
 * The number of blocks that a refusal says would do.
 * @returns `undefined` where it names none, or one of results.
 */
export function suggestedSpan(message: string): number | undefined {
  const range = rangePattern.exec(message)
  if (range !== null) {
    const [, from, to] = range
    return sound(Number(to) - Number(from) + 1)
  }
  for (const pattern of spanPatterns) {
    const found = pattern.exec(message)?.[1]
    if (found !== undefined) return sound(Number(found.replaceAll(/[,_]/g, '')))
  }
  return undefined
}

function sound(blocks: number): number | undefined {
  return Number.isSafeInteger(blocks) && blocks >= 1 && blocks <= mostBlocks ? blocks : undefined
}
