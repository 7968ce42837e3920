import type { Hash } from '../../model/evm.ts'
import { hashKey } from '../record/hexBytes.ts'

/** Key of a transaction hash in `tx_hash`: its first 8 bytes as a signed big-endian number, as a query's parameter wants it. */
export function hashKeyNumber(hash: Hash): string {
  return hashKey(hash).readBigInt64BE().toString()
}
