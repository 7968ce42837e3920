import { RLP } from '@ethereumjs/rlp'
import { isAbsent } from '../../../nodes/evm/rawFields.ts'
import { contradiction } from '../verification/contradiction.ts'
import type { VerifiedHeader } from '../verification/verifiedBlock.ts'
import { expectRoot } from './expectRoot.ts'
import { RlpFields } from './rlpFields.ts'
import { depositType, readType } from './transactionTypes.ts'

/**
 * Checks the withdrawals of a block (EIP-4895). A rollup, whose blocks begin with a deposit, has no withdrawals and uses the
 * root for something else.
 * @throws {NodeContradictionError} naming both roots.
 */
export function verifyWithdrawalsRoot(header: VerifiedHeader): void {
  const { ref, raw, transactions } = header
  const withdrawals = new RlpFields(raw, `block ${ref.number}`).objects('withdrawals', each =>
    RLP.encode([
      ...[each.integer('index'), each.integer('validatorIndex')],
      ...[each.address('address'), each.integer('amount')]
    ])
  )
  const [first] = transactions
  const isRollup = first !== undefined && readType(first.raw, `transaction ${first.hash}`) === depositType
  if (!isRollup && !isAbsent(raw.withdrawalsRoot)) expectRoot(header, 'withdrawalsRoot', withdrawals)
  else if (withdrawals.length > 0) {
    const text = `has ${withdrawals.length} withdrawals, but its header does not commit to any`
    throw contradiction(ref.number, text)
  }
}
