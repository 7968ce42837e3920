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
 * block. A transaction without one is returned without one, which breaks `unknownReceipt`. A transaction that ran in another
 * block, and a receipt without a transaction, are left out, which breaks `duplicateHash` or `extraReceipt`.
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
  const { receipts, elsewhere } = readReceipts(header, rawReceipts, checks, unknown)
  const { number } = header.ref
  const listed = new Set(header.transactions.map(({ hash }) => hash))
  const given = rawReceipts.filter(receipt => receipt !== null).length
  const counts = `the node gave ${plural(given, 'receipt')} for ${plural(listed.size, 'transaction')}`
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
  if (byHash.size + elsewhere.size + unknown.size === 0) expectSome(header, counts)
  const transactions = header.transactions.flatMap((transaction): VerifiedTransaction[] => {
    const { hash } = transaction
    const receipt = byHash.get(hash)
    if (receipt !== undefined) return [{ ...transaction, receipt }]
    if (elsewhere.has(hash)) return []
    if (!unknown.has(hash)) checks.broke('unknownReceipt', `${counts}; there is none for ${hash}`)
    return [transaction]
  })
  // The receipts of a repeated hash may be listed in either order.
  const inOrder = transactions.filter(({ hash, receipt }) => receipt !== undefined && !repeated.has(hash))
  const named = receipts.filter(({ hash }) => listed.has(hash) && !repeated.has(hash))
  for (const [i, { hash }] of inOrder.entries()) {
    const found = named[i]
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

interface ReadReceipts {
  readonly receipts: readonly ReadReceipt[]
  /** Transactions whose receipts are of another block. */
  readonly elsewhere: ReadonlySet<Hash>
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
): ReadReceipts {
  const { ref } = header
  const elsewhere = new Set<Hash>()
  const isListed = (hash: Hash) => header.transactions.some(transaction => transaction.hash === hash)
  const receipts = rawReceipts.flatMap((raw, index): ReadReceipt[] => {
    if (raw === null) return []
    const where = `block ${ref.number} receipt ${index}`
    const receipt = readObject(raw, where)
    const hash = readHash(receipt.transactionHash, where, 'transactionHash')
    if (unknown.has(hash)) return []
    try {
      const other = otherHeight(receipt, ref, where)
      if (other !== undefined) {
        checks.broke('duplicateHash', `${where} is of block ${other}, which lists transaction ${hash} too`)
        elsewhere.add(hash)
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
  return { receipts, elsewhere }
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

/** Refuses an answer without receipts where the block's root says that there are some: such a node lags. */
function expectSome({ ref, raw, transactions }: VerifiedHeader, counts: string): void {
  const { receiptsRoot } = raw
  const mayBeNone = isAbsent(receiptsRoot) || isEmptyRoot(receiptsRoot) || isZeroHash(receiptsRoot)
  if (transactions.length > 0 && !mayBeNone) throw contradiction(ref.number, counts, true)
}
