import type { BlockRef, Hash } from '@chain-data/index'
import { hashBytes, toHex } from '@chain-data/index/record'
import { smallQuantity } from '../../../nodes/evm/rawFields.ts'
import { keccak256 } from '../../../platform/keccak256.ts'
import type { BlockChecks } from './blockChecks.ts'
import type { SystemTransactionKind, VerifiedHeaderTransaction } from './verifiedBlock.ts'

const none: ReadonlyMap<Hash, SystemTransactionKind> = new Map()

/**
 * Finds the transactions of a block that its header does not commit to: they are in none of its roots, its bloom and its gas.
 * Everything else about them is checked as for other transactions.
 *
 * - `stateSync`: the last transaction of a block of Bor, recognised by its hash, which no other transaction can have.
 * - `systemTransaction`: the first transactions of a block of HyperEVM, which offer no gas price. Only chains with the waiver
 *   have any: elsewhere a transaction may be free. Their receipts have to show that they count no gas.
 * @remarks One hash for a block whose last transaction has no gas.
 */
export function findSystemTransactions(
  ref: BlockRef,
  listed: readonly VerifiedHeaderTransaction[],
  checks: BlockChecks
): ReadonlyMap<Hash, SystemTransactionKind> {
  const last = listed.at(-1)
  if (last !== undefined && smallQuantity(last.raw.gas) === 0 && last.hash === stateSyncHash(ref)) {
    checks.broke('stateSync', `transaction ${last.hash} is a state sync, outside of the header`)
    return new Map([[last.hash, 'stateSync']])
  }
  const charged = listed.findIndex(({ raw }) => smallQuantity(raw.gasPrice) !== 0)
  const free = charged < 0 ? listed : listed.slice(0, charged)
  if (free.length === 0 || !checks.passes('systemTransaction')) return none
  return new Map(free.map(({ hash }) => [hash, 'systemTransaction']))
}

/**
 * Computes the hash of the state sync of a block.
 * @see https://github.com/0xPolygon/Polygon-Improvement-Proposals/blob/main/PIPs/PIP-74.md
 */
function stateSyncHash({ number, hash }: BlockRef): Hash {
  const height = Buffer.alloc(8)
  height.writeBigUInt64BE(BigInt(number))
  return toHex(keccak256(Buffer.concat([Buffer.from('matic-bor-receipt-'), height, hashBytes(hash)])))
}
