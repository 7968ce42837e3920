/** Who is calling, once the credentials were found right. */
export interface Caller {
  readonly projectId: string
  /** `server`: a secret key on somebody's backend. `client`: a publishable key, which whoever reads a page has too. */
  readonly kind: 'server' | 'client'
  /** Where a client key may be used from; absent for server keys, which may be used anywhere. */
  readonly origins?: readonly string[]
  /** The project's own quota in place of the common one; `false`: none. Absent: the common one. */
  readonly rateLimit?: ProjectRateLimit
}

/** A project's own quota; calls with client keys get the usual share of it. */
export type ProjectRateLimit = { readonly requestsPerSecond: number; readonly burst: number } | false
