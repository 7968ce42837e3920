import type { ProjectRateLimit } from './Caller.ts'

/** What a host's own database knows of a key. */
export interface VerifiedProject {
  /** Whose quota the call is counted in; may be another name than the caller sent. */
  readonly projectId: string
  /** Present: a publishable client key, for pages of these origins only. Absent: a server key. */
  readonly origins?: readonly string[]
  /** Own quota in place of the common one; `false`: none. `null`, as databases have it: the common one. */
  readonly rateLimit?: ProjectRateLimit | null
}

/**
 * Whose key it is, by the host's own database. Asked for projects that the configuration does not know.
 *
 * @param credentials.key - as the caller sent it; compare digests (HMAC or SHA-256 of 256-bit keys), and keep it nowhere.
 * @param credentials.origin - the web page's origin; absent where no browser says one. It is checked against `origins`
 *   after the answer.
 * @param credentials.signal - aborts when the answer would come too late.
 * @returns `undefined`, or the `null` of many databases, when project or key are wrong: the caller gets 401.
 * @throws anything when it cannot be told: the caller gets 503 and may try again.
 */
export type VerifyProject = (credentials: {
  readonly projectId: string
  readonly key: string
  readonly origin?: string
  readonly signal: AbortSignal
}) => Promise<VerifiedProject | undefined | null>

/** Bounds on asking the host. */
export interface VerifyLimits {
  /** Milliseconds until an answer is given up; 5,000 by default. */
  readonly timeoutMs?: number
  /** Questions at the same time, a tenth of them of one address; more are refused with 503. 100 by default. */
  readonly atOnce?: number
  /** Milliseconds that a right answer is good for, so that a revoked key works so long at most; 5,000 by default, 0: none. */
  readonly cacheMs?: number
}
