import { contradiction } from '../verification/contradiction.ts'
import type { Frame } from './Frame.ts'
import type { TraceableTransaction } from './TraceableBlock.ts'

/**
 * Checks that a trace is of this transaction: it begins with a call from the same sender to the same receiver, or with a
 * creation, and sends the same value.
 * @returns whether it ended as its receipt says.
 * @throws {NodeContradictionError} naming the transaction and the disagreement.
 */
export function verifyRoot(
  root: Frame | undefined,
  { hash, from, to, value, hasFailed }: TraceableTransaction,
  blockNumber: number
): boolean {
  const where = `the trace of ${hash}`
  const differ = (what: string, traced: unknown, own: unknown) =>
    contradiction(blockNumber, `${where} has ${what} ${traced}, the transaction ${own}`)
  const kind = to === undefined ? 'create' : 'call'
  if (root?.kind !== kind)
    throw contradiction(blockNumber, `${where} begins with a ${root?.kind}, not a ${kind}`)
  if (root.from !== from) throw differ('from', root.from, from)
  if (to !== undefined && root.to !== to) throw differ('to', root.to, to)
  if (root.value !== value) throw differ('value', root.value, value)
  return (root.error !== undefined) === hasFailed
}
