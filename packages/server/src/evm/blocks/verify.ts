import type { BlockRef } from '@chain-data/index'
import { maxTransactionsPerBlock } from '@chain-data/index/record'
import {
  isAbsent,
  type RawObject,
  readCount,
  readHash,
  readList,
  readObject,
  readOptionalAddress,
  readOptionalQuantity,
  smallQuantity
} from '../../nodes/evm/rawFields.ts'
import { plural } from '../../platform/plural.ts'
import { BlockChecks } from './verification/blockChecks.ts'
import {
  contradiction,
  expectSameBlock,
  hashOfNothing,
  isEmptyRoot,
  isZeroHash,
  noWaivers,
  type Waivers
} from './verification/contradiction.ts'
import { matchReceipts } from './verification/matchReceipts.ts'
import { findSystemTransactions } from './verification/systemTransactions.ts'
import type {
  VerifiedBlock,
  VerifiedHeader,
  VerifiedHeaderTransaction,
  VerifiedTransaction
} from './verification/verifiedBlock.ts'
import { verifyLogs } from './verification/verifyLogs.ts'

/**
 * Checks that an answer to `eth_getBlockByNumber(number, true)` is that block and is consistent in itself: each
 * transaction once, with ascending indexes, naming no other block, and an empty transactions root exactly where there
 * are none. Uncles are not read, since nothing in them is indexed; an uncle in place of the block is refused, since it lists
 * no transactions. `gasUsed` is not compared with the receipts: since EIP-7778 the two count differently.
 * @returns the block, and which waivable checks it breaks.
 * @throws {NodeContradictionError} naming the block, the part and the disagreement that no waiver lets pass.
 * @see https://ethereum.github.io/execution-apis/api-documentation
 */
export function verifyHeader(
  rawBlock: unknown,
  number: number,
  waivers: Waivers = noWaivers
): VerifiedHeader {
  const checks = new BlockChecks(number, waivers)
  try {
    return { ...readHeader(rawBlock, number, checks), broken: checks.list() }
  } catch (error) {
    throw checks.explain(error)
  }
}

function readHeader(rawBlock: unknown, number: number, checks: BlockChecks): Omit<VerifiedHeader, 'broken'> {
  const block = `block ${number}`
  const raw = readObject(rawBlock, block)
  const ref: BlockRef = {
    number: readCount(raw.number, block, 'number'),
    hash: readHash(raw.hash, block, 'hash')
  }
  if (ref.number !== number) throw contradiction(number, `the node answered block ${ref.number}`)
  const listed = readList(raw.transactions, block, 'transactions').map((entry, index) => {
    const where = `${block} transaction ${index}`
    const transaction = readObject(entry, where)
    expectSameBlock(transaction, ref, where)
    return { hash: readHash(transaction.hash, where, 'hash'), index, raw: transaction }
  })
  const system = findSystemTransactions(ref, listed, checks)
  verifyRoots(raw, number, listed.length - system.size, checks)
  return {
    ref,
    parentHash: readHash(raw.parentHash, block, 'parentHash'),
    timestampSeconds: readCount(raw.timestamp, block, 'timestamp'),
    raw,
    transactions: takeEachOnce(numberTransactions(listed, number, checks), checks),
    system
  }
}

const parties = ['from', 'to'] as const

/**
 * Checks that receipts belong to their block: one for each transaction, in the same order, each naming the transaction and
 * the block's hash, with the same index and parties, gas that adds up, and logs that are the block's own and match its
 * bloom. A lagging node answers null or an empty list, which is refused like any other disagreement.
 * @throws {BrokenChecksError} listing every waivable check that header or receipts break.
 * @throws {NodeContradictionError} naming the block, the part and the disagreement that no waiver lets pass.
 * @remarks Linear in the size of the receipts; one hash for each address and topic that the bloom has not hashed lately.
 */
export function verifyReceipts(
  header: VerifiedHeader,
  rawReceipts: unknown,
  waivers: Waivers = noWaivers
): VerifiedBlock {
  const checks = new BlockChecks(header.ref.number, waivers, header.broken)
  let block: VerifiedBlock
  try {
    block = readReceipts(header, rawReceipts, checks)
  } catch (error) {
    throw checks.explain(error)
  }
  checks.expectNone()
  return block
}

function readReceipts(header: VerifiedHeader, rawReceipts: unknown, checks: BlockChecks): VerifiedBlock {
  const { ref } = header
  if (rawReceipts === null) throw contradiction(ref.number, 'the node does not have its receipts', true)
  const receipts = readList(rawReceipts, `block ${ref.number}: receipts`)
  const { transactions, leftOver } = matchReceipts(header, receipts, checks)
  // When a receipt is left out, the sums after it include gas that is not known here.
  const isWhole = [receipts, header.transactions].every(({ length }) => length === transactions.length)
  let gasBefore: number | bigint = 0
  for (let i = 0; i < transactions.length; i++) {
    const { hash, index, raw, receipt } = transactions[i] as VerifiedTransaction
    const where = `block ${ref.number} receipt ${i}`
    const { transactionIndex } = receipt
    if (
      transactionIndex !== raw.transactionIndex &&
      !isAbsent(transactionIndex) &&
      !isAbsent(raw.transactionIndex)
    ) {
      const named = readCount(transactionIndex, where, 'transactionIndex')
      if (named !== index) {
        const text = `${where} has index ${named}, its transaction ${index}`
        checks.broke('transactionIndex', text)
      }
    }
    for (const party of parties) {
      if (raw[party] === receipt[party]) continue
      const [wanted, named] = [raw, receipt].map(part => readOptionalAddress(part[party], where, party))
      if (wanted !== undefined && named !== undefined && wanted !== named) {
        const text = `${where} has ${party} ${named}, transaction ${hash} ${wanted}`
        checks.broke('receiptParties', text)
      }
    }
    const kind = header.system.get(hash)
    if (kind !== undefined) {
      if (kind === 'systemTransaction' && smallQuantity(receipt.cumulativeGasUsed) !== 0) {
        throw contradiction(ref.number, `${where} counts gas, but transaction ${hash} offers no gas price`)
      }
      continue
    }
    const [small, smallSum] = [smallQuantity(receipt.gasUsed), smallQuantity(receipt.cumulativeGasUsed)]
    if (small !== undefined && smallSum !== undefined && smallSum === Number(gasBefore) + small) {
      gasBefore = smallSum
      continue
    }
    const gasUsed = readOptionalQuantity(receipt.gasUsed, where, 'gasUsed')
    const gasSoFar = readOptionalQuantity(receipt.cumulativeGasUsed, where, 'cumulativeGasUsed')
    const sum: bigint = BigInt(gasBefore) + (gasUsed ?? 0n)
    if (isWhole && gasUsed !== undefined && gasSoFar !== undefined && gasSoFar !== sum) {
      const text = `${where} has cumulativeGasUsed ${gasSoFar} after ${gasBefore} with gasUsed ${gasUsed}`
      checks.broke('cumulativeGas', text)
    }
    gasBefore = gasSoFar ?? sum
  }
  const block = { ...header, transactions }
  verifyLogs(block, leftOver, checks)
  return block
}

function verifyRoots(raw: RawObject, number: number, count: number, checks: BlockChecks): void {
  const { transactionsRoot, receiptsRoot } = raw
  if (count > 0) {
    for (const [name, root] of Object.entries({ transactionsRoot, receiptsRoot })) {
      if (isEmptyRoot(root)) {
        const text = `${name} is the one of an empty block, but it has ${plural(count, 'transaction')}`
        checks.broke('emptyRoot', text)
      }
    }
    return
  }
  // Hardhat writes the hash of nothing into blocks that `hardhat_mine` makes many of.
  const saysEmpty =
    isAbsent(transactionsRoot) ||
    isEmptyRoot(transactionsRoot) ||
    isZeroHash(transactionsRoot) ||
    transactionsRoot === hashOfNothing
  if (number > 0 && !saysEmpty) {
    const text = 'transactionsRoot is not the one of an empty block, but it has no transactions'
    checks.broke('emptyRoot', text)
  }
}

/** Gives each transaction its index: the node's, which may leave gaps, else its index in the list. */
function numberTransactions(
  listed: readonly VerifiedHeaderTransaction[],
  number: number,
  checks: BlockChecks
): readonly VerifiedHeaderTransaction[] {
  let previous = -1
  let areInOrder = true
  const numbered = listed.map(transaction => {
    const { index: listIndex, raw } = transaction
    const { transactionIndex } = raw
    const index =
      smallQuantity(transactionIndex) ??
      (isAbsent(transactionIndex)
        ? listIndex
        : readCount(transactionIndex, `block ${number} transaction ${listIndex}`, 'transactionIndex'))
    if (index <= previous) {
      const text = `transaction ${listIndex} has index ${index} after index ${previous}`
      checks.broke('transactionIndex', text)
      areInOrder = false
    }
    previous = index
    return index === listIndex ? transaction : { ...transaction, index }
  })
  const sound = areInOrder ? numbered : listed
  const last = sound.at(-1)
  if (last !== undefined && last.index >= maxTransactionsPerBlock) {
    throw contradiction(
      number,
      `transaction ${sound.length - 1} has index ${last.index}; the index holds indexes up to ${maxTransactionsPerBlock - 1}`
    )
  }
  return sound
}

/** Drops repeated hashes: of a hash that is listed twice, the last entry counts. */
function takeEachOnce(
  transactions: readonly VerifiedHeaderTransaction[],
  checks: BlockChecks
): readonly VerifiedHeaderTransaction[] {
  if (new Set(transactions.map(({ hash }) => hash)).size === transactions.length) return transactions
  const last = new Map(transactions.map(transaction => [transaction.hash, transaction]))
  return transactions.filter(transaction => {
    const isLast = last.get(transaction.hash) === transaction
    if (!isLast) checks.broke('duplicateHash', `transaction ${transaction.hash} is listed twice`)
    return isLast
  })
}
