import { ExactNumber } from '../wire/parseExact.ts'

/**
 * Where two JSON values differ first; the order of members does not matter.
 *
 * @returns In words, with a JSON Pointer; `undefined` where they are equal.
 */
export function differenceOf(one: unknown, other: unknown, path = ''): string | undefined {
  if (Array.isArray(one) && Array.isArray(other)) {
    if (one.length !== other.length) return `${path || '/'} has ${one.length} elements, not ${other.length}`
    return firstOf(one.keys(), at => differenceOf(one[at], other[at], `${path}/${at}`))
  }
  if (isPlain(one) && isPlain(other)) {
    return firstOf(new Set([...Object.keys(one), ...Object.keys(other)]), key =>
      differenceOf(one[key], other[key], `${path}/${key}`)
    )
  }
  const [left, right] = [textOf(one), textOf(other)]
  return left === right ? undefined : `${path || '/'} is ${left}, not ${right}`
}

function firstOf<T>(items: Iterable<T>, look: (item: T) => string | undefined): string | undefined {
  for (const item of items) {
    const found = look(item)
    if (found !== undefined) return found
  }
  return undefined
}

function isPlain(value: unknown): value is Record<string, unknown> {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof ExactNumber)
  )
}

const longest = 120

function textOf(value: unknown): string {
  const text =
    value === undefined ? 'absent' : value instanceof ExactNumber ? value.text : JSON.stringify(value)
  return text.length > longest ? `${text.slice(0, longest)}…` : text
}
