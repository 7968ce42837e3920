import type { ReadTransaction, Value, WriteTransaction } from '../runs/Transaction.ts'
import { sumOfRow } from './rowSums.ts'

/** Lengths of lists in statements, longest first: an engine keeps each statement that it prepares, so there are few. */
const listLengths = [256, 16, 1] as const

/**
 * Reads rows by a list of values of any length, each once in it.
 * @param text - with `(?)` in place of the list.
 */
export async function selectIn<R extends object>(
  transaction: ReadTransaction,
  text: string,
  values: readonly Value[]
): Promise<readonly R[]> {
  const rows: R[] = []
  for (const list of paddedLists(values)) rows.push(...(await transaction.all<R>(withList(text, list), list)))
  return rows
}

/** Runs a statement, such as a DELETE, for a list of values of any length. @param text - as of `selectIn`. */
export async function runIn(
  transaction: WriteTransaction,
  text: string,
  values: readonly Value[]
): Promise<void> {
  for (const list of paddedLists(values)) await transaction.run(withList(text, list), list)
}

/** Cuts rows into groups that have one of a few lengths, for statements with a list of rows. */
export function* rowLists<T>(rows: readonly T[]): Generator<readonly T[]> {
  for (let at = 0; at < rows.length; ) {
    const length = listLengths.find(each => each <= rows.length - at) ?? 1
    yield rows.slice(at, at + length)
    at += length
  }
}

/** Inserts rows with their checksums. @param columns - all but `sum`, in the order of the table. */
export function insertSummed(
  transaction: WriteTransaction,
  chainId: number,
  table: string,
  columns: readonly string[],
  rows: readonly (readonly Value[])[]
): Promise<void> {
  const summed = rows.map(values => {
    const row = Object.fromEntries(columns.map((column, i) => [column, values[i] ?? null]))
    return [...values, sumOfRow(chainId, table, row)]
  })
  return transaction.insert(table, [...columns, 'sum'], summed)
}

/** Each list is filled up with its last value to one of a few lengths: fewer round trips than exact ones. */
function* paddedLists(values: readonly Value[]): Generator<readonly Value[]> {
  const [most] = listLengths
  for (let at = 0; at < values.length; at += most) {
    const list = values.slice(at, at + most)
    const length = listLengths.findLast(each => each >= list.length) ?? most
    yield [...list, ...Array<Value>(length - list.length).fill(list.at(-1) ?? null)]
  }
}

function withList(text: string, { length }: readonly Value[]): string {
  return text.replace('(?)', `(${Array<string>(length).fill('?').join(', ')})`)
}
