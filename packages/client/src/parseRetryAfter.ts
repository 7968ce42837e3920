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
  // An HTTP date begins with the name of a day; Date.parse alone takes almost anything for a date.
  const waitMs = /^\d+$/.test(text)
    ? Number(text) * 1000
    : Date.parse(/^[A-Z]/.test(text) ? text : '') - nowMs
  return Number.isNaN(waitMs) ? undefined : Math.max(0, Math.min(waitMs, 2 ** 53 - 1))
}
