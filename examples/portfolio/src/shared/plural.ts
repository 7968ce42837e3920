import { shownInteger } from './formatAmount.ts'

/** A count with its noun: "1 token", "2 tokens". */
export function plural(count: number, one: string, many: string): string {
  return `${shownInteger(count)} ${count === 1 ? one : many}`
}
