import type { TransactionRecord } from '@chain-data/client'

/** Whatever a program does with its records. */
export function keep(records: readonly TransactionRecord[]): void {
  process.stdout.write(`${records.length} records kept\n`)
}
