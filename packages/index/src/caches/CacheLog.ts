interface CacheLogFields {
  readonly chainId?: number
  readonly error?: unknown
}

/** Where caches tell of their trouble. */
export interface CacheLog {
  /** All is well again. */
  info(message: string, fields?: CacheLogFields): void
  /** A cache failed, and answers go on without it. */
  warn(message: string, fields?: CacheLogFields): void
}
