/** What to do about a history that is too large for one answer, as the end of a message; nothing for other reasons. */
export function pagesAdvice(reason: string | undefined): string {
  return /^(TOO_MANY|RESPONSE)_/.test(`${reason}`)
    ? ': read a history with limit, or page by page with iterateTransactions'
    : ''
}
