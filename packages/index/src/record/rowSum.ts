/*
 * Sums of single rows. Each row of an epoch that is not added to any more has the hash of its own key less that of the row before
 * it, in the order of their keys. Two rows that were adjacent when they were written agree with the later one's sum; a row that is
 * altered, too many, or gone breaks the sums of its neighbours.
 */

/** Bytes of a row's sum. */
export const rowSumLength = 3
const range = 2 ** (8 * rowSumLength)

/** Hash before the first row of an epoch. */
export const beforeFirstRow = 0

/**
 * Makes the function that binds the hash of a row to its chain and its table: rows of another file do not fit.
 * @param table - a number for each table.
 */
export function createRowHash(chainId: number, table: number): (hash: number) => number {
  const mark =
    Math.imul((chainId % range) + table * range, 0x9e3779b1) ^ Math.imul(chainId + table, 0x85ebca6b)
  return hash => (hash ^ mark) & (range - 1)
}

/** Computes the sum of a row from its hash and that of the row before it. */
export function rowSum(hash: number, before: number): number {
  return (hash - before) & (range - 1)
}

/** Writes a hash or a sum. */
export function writeRowSum(bytes: Uint8Array, at: number, sum: number): void {
  bytes[at] = sum >> 16
  bytes[at + 1] = sum >> 8
  bytes[at + 2] = sum
}

export function readRowSum(bytes: Uint8Array, at: number): number {
  return ((bytes[at] ?? 0) << 16) | ((bytes[at + 1] ?? 0) << 8) | (bytes[at + 2] ?? 0)
}
