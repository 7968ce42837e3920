/** Consecutive blocks, both ends included. */
export interface BlockSpan {
  readonly from: number
  readonly to: number
}

/** Maximum of spans that are kept apart: an answer names them in a header. */
const maxSpans = 16

/**
 * Joins spans to ascending ones that do not overlap. Of too many, the oldest become one span, with the blocks between them.
 */
export function joinSpans(spans: readonly BlockSpan[]): readonly BlockSpan[] {
  const joined: BlockSpan[] = []
  for (const { from, to } of spans.toSorted((one, other) => one.from - other.from)) {
    const last = joined.at(-1)
    if (last !== undefined && from <= last.to + 1) {
      joined[joined.length - 1] = { from: last.from, to: Math.max(last.to, to) }
    } else joined.push({ from, to })
  }
  const [first] = joined
  const tooMany = joined.length - maxSpans
  const last = joined[tooMany]
  if (first === undefined || last === undefined || tooMany <= 0) return joined
  return [{ from: first.from, to: last.to }, ...joined.slice(tooMany + 1)]
}

/** Writes spans as text: `7 10-12`. */
export function formatSpans(spans: readonly BlockSpan[]): string {
  return spans.map(({ from, to }) => (from === to ? `${from}` : `${from}-${to}`)).join(' ')
}

/** Reads what `formatSpans` has written. */
export function parseSpans(text: string): readonly BlockSpan[] {
  return text.split(' ').map(span => {
    const [from = Number.NaN, to = from] = span.split('-').map(Number)
    return { from, to }
  })
}
