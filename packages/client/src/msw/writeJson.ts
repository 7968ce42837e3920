/**
 * JSON as `JSON.stringify` writes it, and a `bigint` as a JSON number with every digit.
 *
 * The document's 64-bit integers (`lamports`, `amount` on Solana) are such numbers.
 */
export function writeJson(value: unknown): string {
  if (typeof value === 'bigint') return String(value)
  if (Array.isArray(value)) return `[${value.map(writeJson).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  const members = Object.entries(value).filter(([, member]) => member !== undefined)
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${writeJson(member)}`).join(',')}}`
}
