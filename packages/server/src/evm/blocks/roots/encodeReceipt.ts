import { RLP } from '@ethereumjs/rlp'
import { isAbsent, type RawObject } from '../../../nodes/evm/rawFields.ts'
import { depositType, typed } from './encodeTransaction.ts'
import { RlpFields, type RlpValue } from './rlpFields.ts'

/**
 * Returns the bytes of a receipt that the receipts root covers.
 * @param type - of the transaction.
 * @throws {NodeContradictionError} when a field is missing or malformed.
 */
export function encodeReceipt(raw: RawObject, type: number, where: string): Uint8Array {
  const receipt = new RlpFields(raw, where)
  const payload: RlpValue[] = [
    hasStateRoot(raw) ? receipt.hash('root') : receipt.integer('status'),
    receipt.integer('cumulativeGasUsed'),
    receipt.bytes('logsBloom'),
    receipt.objects('logs', log => [log.address('address'), log.hashes('topics'), log.bytes('data')])
  ]
  // From Canyon on, a receipt with a version commits to the nonce of its deposit, too.
  if (type === depositType && !isAbsent(raw.depositReceiptVersion)) {
    payload.push(receipt.integer('depositNonce'), receipt.integer('depositReceiptVersion'))
  }
  return type === 0 ? RLP.encode(payload) : typed(type, payload)
}

/** Before Byzantium (EIP-658) a receipt had the root of the state after its transaction in the place of a status. */
function hasStateRoot({ root }: RawObject): boolean {
  return !isAbsent(root) && root !== '0x'
}
