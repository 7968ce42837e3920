import type { DeepGap } from '@chain-data/index'
import { type DeepCoverage, type DeepProgress, deepReasons } from '../../model/deepHistory.ts'
import { present } from '../../platform/present.ts'
import { Refusal } from '../../platform/refusal.ts'

/** The ends of sentences about what may be missing. */
const unseen: Readonly<Record<DeepGap, string>> = {
  'zero-value-receipts': 'receipts of no value that log nothing cannot be found from old states',
  'payments-passed-on':
    'the account has never sent a transaction, so that its code may have passed on what it was paid',
  authorities:
    'authorizations (EIP-7702) that others sent cannot be found without the states of old blocks, which no node has'
}

/**
 * Lets only histories pass that lack nothing.
 * @throws {Refusal} HISTORY_UNPROVABLE, with the reason.
 */
export function requireComplete(
  chainId: number,
  indexedFrom: number,
  { from, gaps, reason }: DeepCoverage
): void {
  const [gap] = gaps
  if (from === 0 && gap === undefined) return
  const unknown =
    'no node lists the transactions of an address, nor has the states that they could be found from'
  const known = reason === undefined ? unknown : deepReasons[reason]
  const why = from === 0 && gap !== undefined ? unseen[gap] : known
  const message = `History before block ${from || indexedFrom} of chain ${chainId} cannot be proven complete: ${why}.`
  throw new Refusal('HISTORY_UNPROVABLE', message, {})
}

/** Makes the refusal of a history that is as long as the chain, because blocks pay the account. */
export function endless(
  chainId: number,
  indexedFrom: number,
  problem: string
): Refusal<'HISTORY_UNPROVABLE'> {
  const message = `History before block ${indexedFrom} of chain ${chainId} cannot be searched for: ${problem} Begin the index lower (startBlock), or use a node with trace_filter or ots_searchTransactionsBefore.`
  return new Refusal('HISTORY_UNPROVABLE', message, {})
}

/** The `retryAfterMs` of an unfinished read. */
export const retryAfterMs = 1_000

/** Makes the refusal of a history that is not read far enough; what was read is kept. */
export function stillReading(
  chainId: number,
  indexedFrom: number,
  { reachedBlock, expectedMs, ...progress }: DeepProgress
): Refusal<'STILL_READING'> {
  const passed = (100 * (indexedFrom - reachedBlock)) / indexedFrom
  const percent = Math.min(99, Math.max(0, Math.floor(progress.percent ?? passed)))
  const left = expectedMs === undefined ? '' : `, about ${Math.ceil(expectedMs / 1_000)} s left`
  return new Refusal(
    'STILL_READING',
    `History before block ${indexedFrom} of chain ${chainId} is still being read, down to block ${reachedBlock} so far (${percent} %${left}).`,
    { retryAfterMs, progress: { reachedBlock, percent, ...present({ expectedMs }) } }
  )
}
