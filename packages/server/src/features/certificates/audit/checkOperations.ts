import type { Audit, CheckVerdict } from './Audit.ts'
import { operationKey } from './sumHistory.ts'

export interface OperationsResult {
  readonly verdict: CheckVerdict
  /** Indexed operations of the account. */
  readonly operations: number
}

/**
 * Compares the indexed operations of an account with those that the node finds in its logs. An account without code that has
 * signed no authorization had no code that an operation could have run: nothing is searched for it.
 */
export async function checkOperations(audit: Audit): Promise<OperationsResult> {
  const { sums, from, openingHeight } = audit.indexed
  const operations = sums.operations.size
  if (operations === 0 && audit.state.now.code === 'none' && sums.authorizations.length === 0) {
    return { verdict: 'proven', operations }
  }
  const found = await audit.state.operations(Math.max(from, openingHeight + 1))
  if (found === undefined || sums.hasMoreOperations) {
    audit.findings.add({
      kind: 'LOGS_UNAVAILABLE',
      message: 'The operations of the account could not be searched for in the logs of all blocks.'
    })
    return { verdict: 'unprovable', operations }
  }
  const lost = found.filter(
    ({ transactionHash, operation }) => !sums.operations.has(operationKey(transactionHash, operation))
  )
  let verdict: CheckVerdict = 'proven'
  for (const { blockNumber, transactionHash } of lost) {
    if (!audit.mayFollow()) return { verdict: verdict === 'failed' ? verdict : 'unprovable', operations }
    const { missing } = await audit.examine(blockNumber)
    if (missing.length > 0) verdict = 'failed'
    if (missing.some(finding => finding.transactionHash === transactionHash)) continue
    const message = `The history lacks an operation of block ${blockNumber} that the node has in its logs.`
    audit.findings.add({ kind: 'MISSING_TRANSACTION', message, blockNumber, transactionHash })
    verdict = 'failed'
  }
  return { verdict, operations }
}
