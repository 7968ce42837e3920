/**
 * The wait that a `Retry-After` header asks for, in milliseconds.
 *
 * @param nowMs - The clock that a date in the header is compared with.
 * @returns 0 for a date that has passed; `undefined` for no header or one of neither form.
 * @see RFC 9110, 10.2.3
 */
export function parseRetryAfter(
  header: string | null | undefined,
  nowMs: number = Date.now()
): number | undefined {
  const text = `${header}`.trim()
  if (/^\d+$/.test(text)) return Math.min(Number(text) * 1000, Number.MAX_SAFE_INTEGER)
  // An HTTP date begins with the name of a day; Date.parse alone takes almost anything for a date.
  const waitMs = /^[A-Z]/.test(text) ? Date.parse(text) - nowMs : Number.NaN
  return waitMs > 0 ? waitMs : waitMs <= 0 ? 0 : undefined
}
