/** How something looked at stands: `warning` is for what works and should be looked at, `error` for what will not work. */
type FindingState = 'ok' | 'warning' | 'error'

/** What one look at something the server will need has shown. */
export interface Finding {
  /** What was looked at, in one or two words, such as `receipts`. Others script against it. */
  readonly check: string
  readonly state: FindingState
  /** What was found, in one sentence without an end mark. Never holds a key, nor more of a URL than its origin. */
  readonly found: string
  /** What to do about it; absent when there is nothing to do. */
  readonly advice?: string
}
