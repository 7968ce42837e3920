/**
 * Reads JSON without rounding: integers that a double cannot hold become bigints.
 *
 * `JSON.parse` would hide a wrong last digit of a 64-bit amount.
 */
export function parseExact(text: string): unknown {
  const mark = '\u0000integer:'
  const marked = text.replace(/"(?:[^"\\]|\\.)*"|-?\d+(?![\d.eE])/g, token =>
    token.startsWith('"') || Number.isSafeInteger(Number(token)) ? token : JSON.stringify(mark + token)
  )
  return JSON.parse(marked, (_, value: unknown) =>
    typeof value === 'string' && value.startsWith(mark) ? BigInt(value.slice(mark.length)) : value
  )
}

/** The same value as {@link parseExact} gives it: bigints only where a number would round. */
export function asParsed<T>(value: T): unknown {
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : value
  if (Array.isArray(value)) return value.map(asParsed)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, asParsed(member)]))
}
