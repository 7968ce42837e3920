/** Where an index begins that is empty: at a height, or at the newest block that is final by then. */
export type StartBlock = number | 'latest'

/** The lowest block that an index may begin at, as long as nobody has found out where it does. */
export function lowestStart(startBlock: StartBlock): number {
  return startBlock === 'latest' ? 0 : startBlock
}

/** The block down to which a backfill adds older ones; absent: none are added. */
export function wantedStart(startBlock: StartBlock): { readonly startBlock?: number } {
  return startBlock === 'latest' ? {} : { startBlock }
}
