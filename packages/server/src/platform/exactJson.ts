/**
 * Writes the JSON text of a value in which a `bigint` stands for a JSON number with every digit, beyond what a JavaScript
 * number holds. Otherwise the same text as `JSON.stringify`.
 *
 * @throws {TypeError} for a value that has no JSON form (a function or `undefined` at the top, a circle).
 */
export function exactJson(value: unknown): string {
  let text: string | undefined
  try {
    text = JSON.stringify(value)
  } catch {
    // JSON.stringify refuses bigints. They are rare, so the common case pays nothing for them.
    text = write(value, 0)
  }
  if (text === undefined) throw new TypeError('the value has no JSON form')
  return text
}

/** Far beyond any answer; ends a circular value before the stack does. */
const deepest = 500

function write(value: unknown, depth: number): string | undefined {
  if (typeof value === 'bigint') return value.toString()
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if (depth > deepest) throw new TypeError('the value is nested too deep')
  if (Array.isArray(value)) {
    return `[${value.map(element => write(element, depth + 1) ?? 'null').join(',')}]`
  }
  if ('toJSON' in value && typeof value.toJSON === 'function') return write(value.toJSON(), depth + 1)
  const members: string[] = []
  for (const [name, member] of Object.entries(value)) {
    const text = write(member, depth + 1)
    if (text !== undefined) members.push(`${JSON.stringify(name)}:${text}`)
  }
  return `{${members.join(',')}}`
}
