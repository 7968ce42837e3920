/** A writer that had gone silent, and was put out by the one that waited for its place. For the log. */
export interface PutOut {
  readonly chainId: number
  /** Process id of its connection, as the database's own log names it. */
  readonly backendPid: number
  readonly silentMs: number
}
