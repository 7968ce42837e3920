/** One thing that the login throttle remembers of an address. */
export interface LoginFact {
  readonly kind: LoginFactKind
  readonly address: string
  /** Digest of credentials (`known`) or project id (`promise`); `''` where an address has one fact of the kind. */
  readonly name: string
  /**
   * Milliseconds since the Unix epoch. `pause`: its end. `count`: when no wrong credentials count any more. `known`: when
   * the credentials were last right, 0 once they were wrong. `promise`: when its credentials are heard.
   */
  readonly atMs: number
  /** Length of a pause; else 0. */
  readonly lengthMs: number
  /** Promises that were made in a pause, or 1 for a promise that was kept; else 0. */
  readonly count: number
  /** The credentials of a promise; else `''`. */
  readonly digest: string
  /** From then on it means nothing. */
  readonly forgetAtMs: number
}

export type LoginFactKind = 'pause' | 'count' | 'known' | 'promise'

/**
 * Facts that outlive the process. Any number of servers may share one store: of two facts with the same kind, address and
 * name the one written last is kept.
 */
export interface LoginStore {
  /** Reads the secret under which credentials are digested; the first server to ask makes it. */
  readSecret(): Promise<string>
  /** Reads the facts that others have written since the last call: at first all that are there. */
  readNew(): Promise<readonly LoginFact[]>
  /** Writes facts, in one transaction. */
  write(facts: readonly LoginFact[]): Promise<void>
  close(): Promise<void>
}
