import type { DeepGap } from '@chain-data/index'
import type { TransactionPosition } from '@chain-data/index/record'
import type { Audit, CheckVerdict } from './Audit.ts'
import { missingRecordMessage } from './examineBlock.ts'
import type { CertificateFinding } from './Findings.ts'

export interface IndexResult {
  readonly verdict: CheckVerdict
  readonly transactions: number
}

/** Maximum of blocks that are read again only to name what is missing in them. */
const maxNamed = 16

/**
 * Checks that everything that was once written about the account is still there. A history that was read without damage is
 * complete from the first block of the index on: absence is proven by the read.
 */
export async function checkIndex(audit: Audit): Promise<IndexResult> {
  const { sums, missingHoldings, damages, isHintedMore } = audit.indexed
  const { findings } = audit
  const naming = new Set<number>()
  for (const { part, position } of sums.missing) {
    const { blockNumber, index } = position
    if (part === 'block') {
      findings.add({ kind: 'MISSING_BLOCK', message: `The index lacks block ${blockNumber}.`, blockNumber })
    } else if (part === 'alteredBlock') {
      const message = `The row of block ${blockNumber} does not agree with its checksum.`
      findings.add({ kind: 'INDEX_DAMAGED', message, blockNumber })
    } else if (part === 'alteredRecord') {
      const message = `The record of transaction ${index} of block ${blockNumber} does not agree with its checksum.`
      findings.add({ kind: 'INDEX_DAMAGED', message, blockNumber, transactionIndex: index })
    } else await nameMissing(audit, position, naming, part)
  }
  for (const { message, damage } of damages) {
    const { block: blockNumber } = damage
    findings.add({ kind: 'INDEX_DAMAGED', message, ...(blockNumber !== undefined && { blockNumber }) })
  }
  for (const key of missingHoldings) findings.add(missingHolding(key))
  const isDamaged = [sums.missing, missingHoldings, damages].some(list => list.length > 0)
  const isCutShort = sums.isWantedMore || isHintedMore
  if (!isDamaged && isCutShort) {
    findings.add({
      kind: 'NOT_COUNTED',
      message: 'The account has had too many tokens to look for each among the candidates for its holdings.'
    })
  }
  return {
    verdict: isDamaged ? 'failed' : isCutShort ? 'unprovable' : 'proven',
    transactions: sums.transactions
  }
}

const unseen: Readonly<Record<DeepGap, string>> = {
  'zero-value-receipts': 'Transactions of no value that others sent to the account and that log nothing',
  'payments-passed-on': 'Payments that code of the account passed on at once',
  authorities: 'Authorizations (EIP-7702) that others sent'
}

/** Whatever happened in a part of a block that is unknown, the history may lack it. */
export function judgeUnknown({ indexed: { coverage }, findings }: Audit): CheckVerdict {
  for (const { from, to } of coverage.unknown ?? []) {
    const blocks = from === to ? `block ${from}` : `blocks ${from} to ${to}`
    const message = `A part of ${blocks} is unknown, since it contradicts the block on every node: what happened there may be missing.`
    findings.add({ kind: 'HISTORY_LACKS', message, blockNumber: from })
  }
  return coverage.unknown === undefined ? 'proven' : 'unprovable'
}

/** Transactions that leave no trace in state or logs show by their rows only, and older history has rows of what nodes named. */
export function judgeOlder({ indexed: { older }, findings }: Audit): CheckVerdict {
  if (older === undefined || older.lacks.length === 0) return 'proven'
  for (const gap of older.lacks) {
    const message = `${unseen[gap]} may be missing before block ${older.below}: old states do not show them.`
    findings.add({ kind: 'HISTORY_LACKS', message })
  }
  return 'unprovable'
}

/** The block is read again for the hash of what is missing in it. */
async function nameMissing(
  audit: Audit,
  { blockNumber, index }: TransactionPosition,
  naming: Set<number>,
  part: 'record' | 'hash'
): Promise<void> {
  if (naming.size < maxNamed) naming.add(blockNumber)
  const block = naming.has(blockNumber) ? await audit.state.block(blockNumber) : undefined
  const actual = block?.transactions.find(({ transaction }) => transaction.index === index)
  const position = {
    ...{ blockNumber, transactionIndex: index },
    ...(actual && { transactionHash: actual.transaction.hash })
  }
  audit.findings.add(
    part === 'record'
      ? { kind: 'MISSING_RECORD', message: missingRecordMessage(blockNumber, index), ...position }
      : {
          kind: 'MISSING_HASH',
          message: `Transaction ${index} of block ${blockNumber} cannot be found by its hash.`,
          ...position
        }
  )
}

/** @param key - see `candidateKey`. */
function missingHolding(key: string): CertificateFinding {
  const [contract, standard, id, last] = key.split(' ')
  const tokenId = standard === 'erc20' || id === undefined ? undefined : BigInt(id)
  const range = last === '-1' ? '' : ` to ${last}`
  return {
    kind: 'MISSING_HOLDING',
    message: `Token ${tokenId === undefined ? '' : `${tokenId}${range} `}of ${contract} is not among those the account's holdings are looked for.`,
    address: contract as `0x${string}`,
    ...(tokenId !== undefined && { tokenId })
  }
}
