/**
 * What a `Retry-After` header asks for.
 *
 * @returns milliseconds from now, 0 for a date that has passed; absent without a header, or for one that is neither seconds
 *   nor a date.
 * @see RFC 9110, 10.2.3
 */
export function readRetryAfter(header: string | undefined): number | undefined {
  if (header === undefined) return undefined
  if (/^\d+$/.test(header.trim())) return Number(header) * 1000
  const at = Date.parse(header)
  return Number.isNaN(at) ? undefined : Math.max(0, at - Date.now())
}
