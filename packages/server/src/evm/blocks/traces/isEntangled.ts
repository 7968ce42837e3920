import type { Address } from '../../../model/evm.ts'
import type { Frame } from './Frame.ts'

/**
 * Whether steps of one transaction are told of another account than the one in whose place the code around them runs, so that
 * transfers and nonces would be laid to accounts that have nothing to do with them.
 *
 * Besu tells such steps. By `trace_block`: a creation that cannot begin (its creator has too little to send) as one by which
 * the creator creates itself, with what its callers do afterwards inside of it; and of a transaction that creates a contract,
 * that contract as the creator of all others. By the `callTracer`: what delegated code does, of the account whose code it is.
 *
 * @param frames - in the order of execution, beginning with the transaction itself. Contracts that destroy themselves are
 *   passed over: see `foldFrames`.
 */
export function isEntangled(frames: readonly Frame[]): boolean {
  /** By depth: in whose place the code of the step runs; not known of a creation that failed. */
  const places: (Address | undefined)[] = []
  for (const { kind, depth, from, to } of frames) {
    if (kind === 'selfdestruct') continue
    const runner = places[depth - 1]
    if (runner !== undefined && (from !== runner || (kind === 'create' && to === runner))) return true
    places[depth] = kind === 'delegate' ? from : to
  }
  return false
}
