import type { BlockRef, Hash } from '@chain-data/index'
import { isAbsent, type RawObject, readCount, readHash, readObject } from '../../../nodes/evm/rawFields.ts'
import { plural } from '../../../platform/plural.ts'
import type { BlockChecks } from './blockChecks.ts'
import { aboutReceipt, contradiction, expectSameBlock, isEmptyRoot, isZeroHash } from './contradiction.ts'
import type { VerifiedHeader, VerifiedTransaction } from './verifiedBlock.ts'

/** Transactions with their receipts, in block order; a receipt that is unknown is absent. */
export interface MatchedReceipts {
  readonly transactions: readonly VerifiedTransaction[]
  /** Receipts of the block without a listed transaction, or followed by another one for the same hash. */
  readonly leftOver: readonly RawObject[]
}

/**
 * Gives each transaction of a block its receipt: as many, in the same order, each naming the transaction and the
 * block. Transactions and receipts without a counterpart are left out, which breaks `duplicateHash`,
 * `missingReceipt` or `extraReceipt`.
 * @param unknown - transactions whose receipts are left aside: they are returned without one.
 * @throws {NodeContradictionError} naming the block, the receipt and the disagreement that no waiver lets pass.
 */
export function matchReceipts(
  header: VerifiedHeader,
  rawReceipts: readonly unknown[],
  checks: BlockChecks,
  unknown: ReadonlySet<Hash>
): MatchedReceipts {
  const paired = unknown.size === 0 ? pairInOrder(header, rawReceipts) : undefined
  if (paired !== undefined) return { transactions: paired, leftOver: [] }
  const receipts = readReceipts(header, rawReceipts, checks, unknown)
  const { number } = header.ref
  const listed = new Set(header.transactions.map(({ hash }) => hash))
  const counts = `the node gave ${plural(rawReceipts.length, 'receipt')} for ${plural(listed.size, 'transaction')}`
  const byHash = new Map<Hash, RawObject>()
  const repeated = new Set<Hash>()
  const leftOver: RawObject[] = []
  for (const { index, hash, receipt } of receipts) {
    const earlier = byHash.get(hash)
    if (!listed.has(hash)) {
      checks.broke(
        'extraReceipt',
        `${counts}; receipt ${index} is for ${hash}, which the block does not list`
      )
      leftOver.push(receipt)
    } else {
      if (earlier !== undefined) {
        checks.broke('duplicateHash', `${counts}; receipt ${index} is the second one for ${hash}`)
        leftOver.push(earlier)
        repeated.add(hash)
      }
      byHash.set(hash, receipt)
    }
  }
  const found = byHash.size + unknown.size
  if (found < listed.size) expectSome(header, found, counts, checks)
  const transactions = header.transactions.flatMap((transaction): VerifiedTransaction[] => {
    const receipt = byHash.get(transaction.hash)
    if (receipt !== undefined) return [{ ...transaction, receipt }]
    return unknown.has(transaction.hash) ? [transaction] : []
  })
  // The receipts of a repeated hash may be listed in either order.
  const inOrder = transactions.filter(({ hash, receipt }) => receipt !== undefined && !repeated.has(hash))
  const given = receipts.filter(({ hash }) => listed.has(hash) && !repeated.has(hash))
  for (const [i, { hash }] of inOrder.entries()) {
    const found = given[i]
    if (found?.hash !== hash)
      throw contradiction(number, `receipt ${found?.index} is for ${found?.hash}, not for ${hash}`)
  }
  return { transactions, leftOver }
}

/** Pairs the receipts of almost every block: as many as transactions, each naming its transaction and the block word for word. */
function pairInOrder(
  { ref, transactions, raw }: VerifiedHeader,
  receipts: readonly unknown[]
): readonly VerifiedTransaction[] | undefined {
  if (receipts.length !== transactions.length || receipts.length === 0) return undefined
  const paired: VerifiedTransaction[] = []
  for (const [i, { hash, index, raw: own }] of transactions.entries()) {
    const receipt = receipts[i] as RawObject | null
    if (receipt?.transactionHash !== hash || receipt.blockHash !== ref.hash) return undefined
    if (receipt.blockNumber !== raw.number) return undefined
    paired.push({ hash, index, raw: own, receipt })
  }
  return paired
}

interface ReadReceipt {
  /** In the node's list. */
  readonly index: number
  readonly hash: Hash
  readonly receipt: RawObject
}

function readReceipts(
  header: VerifiedHeader,
  rawReceipts: readonly unknown[],
  checks: BlockChecks,
  unknown: ReadonlySet<Hash>
): ReadReceipt[] {
  const { ref } = header
  const isListed = (hash: Hash) => header.transactions.some(transaction => transaction.hash === hash)
  return rawReceipts.flatMap((raw, index) => {
    const where = `block ${ref.number} receipt ${index}`
    if (raw === null) {
      checks.broke('missingReceipt', `${where} is null`)
      return []
    }
    const receipt = readObject(raw, where)
    const hash = readHash(receipt.transactionHash, where, 'transactionHash')
    if (unknown.has(hash)) return []
    try {
      const elsewhere = otherHeight(receipt, ref, where)
      if (elsewhere !== undefined) {
        checks.broke('missingReceipt', `${where} is of block ${elsewhere}`)
        return []
      }
      expectSameBlock(receipt, ref, where)
    } catch (error) {
      throw isListed(hash) ? aboutReceipt(error, hash) : error
    }
    if (isAbsent(receipt.blockHash)) {
      checks.broke('receiptBlockHash', `${where}: blockHash is missing`)
    }
    return [{ index, hash, receipt }]
  })
}

/**
 * Returns the height that a receipt names, if it is another one. A transaction that is listed in two blocks has one receipt,
 * which comes from the block it ran in. After a reorg instead, this block has left the chain, and the index will follow.
 */
function otherHeight(
  { blockHash, blockNumber }: RawObject,
  ref: BlockRef,
  where: string
): number | undefined {
  if (isAbsent(blockHash) || isAbsent(blockNumber)) return undefined
  if (readHash(blockHash, where, 'blockHash') === ref.hash) return undefined
  const number = readCount(blockNumber, where, 'blockNumber')
  return number === ref.number ? undefined : number
}

/** Refuses an answer without receipts where the block's root says that there are some: such a node lags, and no waiver helps. */
function expectSome({ ref, raw }: VerifiedHeader, found: number, counts: string, checks: BlockChecks): void {
  const { receiptsRoot } = raw
  const mayBeNone = isAbsent(receiptsRoot) || isEmptyRoot(receiptsRoot) || isZeroHash(receiptsRoot)
  if (found === 0 && !mayBeNone) throw contradiction(ref.number, counts, true)
  checks.broke('missingReceipt', counts)
}
