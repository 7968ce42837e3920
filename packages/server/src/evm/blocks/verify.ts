import type { BlockRef, Hash } from '@chain-data/index'
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
import { NodeContradictionError } from '../../platform/errors.ts'
import { plural } from '../../platform/plural.ts'
import { BlockChecks } from './verification/blockChecks.ts'
import {
  aboutReceipt,
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
 * @throws {BrokenChecksError} naming the block, the part and the disagreement, with the waiver that lets its transactions count as
 *   unknown.
 * @throws {NodeContradictionError} likewise: it is waived.
 * @see https://ethereum.github.io/execution-apis/api-documentation
 */
export function verifyHeader(
  rawBlock: unknown,
  number: number,
  waivers: Waivers = noWaivers
): VerifiedHeader {
  const place = readPlace(rawBlock, number)
  const raw = rawBlock as RawObject
  const checks = new BlockChecks(number, waivers)
  try {
    return { ...place, ...readListed(raw, place.ref, checks), broken: checks.list() }
  } catch (error) {
    throw checks.explain(error)
  }
}

/** The position of a block in its chain. */
type Place = Pick<VerifiedHeader, 'ref' | 'parentHash' | 'timestampSeconds'>

/** @throws {NodeContradictionError} it is not this block: only another node helps. */
function readPlace(rawBlock: unknown, number: number): Place {
  const block = `block ${number}`
  try {
    const raw = readObject(rawBlock, block)
    const ref = { number: readCount(raw.number, block, 'number'), hash: readHash(raw.hash, block, 'hash') }
    if (ref.number !== number) throw contradiction(number, `the node answered block ${ref.number}`)
    const parentHash = readHash(raw.parentHash, block, 'parentHash')
    return { ref, parentHash, timestampSeconds: readCount(raw.timestamp, block, 'timestamp') }
  } catch (error) {
    if (!(error instanceof NodeContradictionError)) throw error
    throw contradiction(number, `${error.message}; no setting helps: use another node`)
  }
}

function readListed(
  raw: RawObject,
  ref: BlockRef,
  checks: BlockChecks
): Pick<VerifiedHeader, 'raw' | 'transactions' | 'system'> {
  const { number } = ref
  const block = `block ${number}`
  const listed = readList(raw.transactions, block, 'transactions').map((entry, index) => {
    const where = `${block} transaction ${index}`
    const transaction = readObject(entry, where)
    expectSameBlock(transaction, ref, where)
    return { hash: readHash(transaction.hash, where, 'hash'), index, raw: transaction }
  })
  const system = findSystemTransactions(ref, listed, checks)
  verifyRoots(raw, number, listed.length - system.size, checks)
  return { raw, transactions: takeEachOnce(numberTransactions(listed, number, checks), checks), system }
}

/**
 * Reads a block of which nothing but its place in the chain is believed.
 * @throws {NodeContradictionError} it does not have that place.
 */
export function verifyPlace(rawBlock: unknown, number: number): VerifiedBlock {
  const place = readPlace(rawBlock, number)
  return { ...place, raw: {}, transactions: [], system: new Map(), unknown: 'transactions' }
}

const parties = ['from', 'to'] as const

/**
 * Checks that receipts belong to their block: one for each transaction, in the same order, each naming the transaction and
 * the block's hash, with the same index and parties, gas that adds up, and logs that are the block's own and match its
 * bloom. A lagging node answers null or an empty list, which is refused like any other disagreement.
 * @param unknown - transactions whose receipts are left aside.
 * @throws {BrokenChecksError} listing every waivable check that header or receipts break; `receiptOf` of its context names a
 *   transaction whose receipt contradicts the block.
 * @throws {NodeContradictionError} naming the block, the part and the disagreement: the node lags, or it is waived.
 * @remarks Linear in the size of the receipts; one hash for each address and topic that the bloom has not hashed lately.
 */
export function verifyReceipts(
  header: VerifiedHeader,
  rawReceipts: unknown,
  waivers: Waivers = noWaivers,
  unknown: ReadonlySet<Hash> = new Set()
): VerifiedBlock {
  const checks = new BlockChecks(header.ref.number, waivers, header.broken)
  let block: VerifiedBlock
  try {
    block = readReceipts(header, rawReceipts, checks, unknown)
  } catch (error) {
    throw checks.explain(error)
  }
  checks.expectNone()
  return block
}

function readReceipts(
  header: VerifiedHeader,
  rawReceipts: unknown,
  checks: BlockChecks,
  unknown: ReadonlySet<Hash>
): VerifiedBlock {
  const { ref } = header
  if (rawReceipts === null) throw contradiction(ref.number, 'the node does not have its receipts', true)
  const receipts = readList(rawReceipts, `block ${ref.number}: receipts`)
  const { transactions, leftOver } = matchReceipts(header, receipts, checks, unknown)
  const isKnown = transactions.every(({ receipt }) => receipt !== undefined)
  // When a receipt is left out, the sums after it include gas that is not known here.
  const isWhole =
    isKnown && [receipts, header.transactions].every(({ length }) => length === transactions.length)
  let hash: Hash | undefined
  try {
    let gasBefore: number | bigint = 0
    for (const [i, transaction] of transactions.entries()) {
      hash = transaction.hash
      gasBefore = verifyReceipt(header, transaction, i, gasBefore, isWhole, checks)
    }
  } catch (error) {
    throw aboutReceipt(error, hash)
  }
  const block = { ...header, transactions, ...(!isKnown && { unknown: 'receipts' as const }) }
  verifyLogs(block, leftOver, checks)
  return block
}

/** @returns the gas of the block up to this transaction. */
function verifyReceipt(
  { ref, system }: VerifiedHeader,
  { hash, index, raw, receipt }: VerifiedTransaction,
  i: number,
  gasBefore: number | bigint,
  isWhole: boolean,
  checks: BlockChecks
): number | bigint {
  if (receipt === undefined) return gasBefore
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
  const kind = system.get(hash)
  if (kind !== undefined) {
    if (kind === 'systemTransaction' && smallQuantity(receipt.cumulativeGasUsed) !== 0) {
      throw contradiction(ref.number, `${where} counts gas, but transaction ${hash} offers no gas price`)
    }
    return gasBefore
  }
  const [small, smallSum] = [smallQuantity(receipt.gasUsed), smallQuantity(receipt.cumulativeGasUsed)]
  if (small !== undefined && smallSum !== undefined && smallSum === Number(gasBefore) + small) {
    return smallSum
  }
  const gasUsed = readOptionalQuantity(receipt.gasUsed, where, 'gasUsed')
  const gasSoFar = readOptionalQuantity(receipt.cumulativeGasUsed, where, 'cumulativeGasUsed')
  const sum: bigint = BigInt(gasBefore) + (gasUsed ?? 0n)
  if (isWhole && gasUsed !== undefined && gasSoFar !== undefined && gasSoFar !== sum) {
    const text = `${where} has cumulativeGasUsed ${gasSoFar} after ${gasBefore} with gasUsed ${gasUsed}`
    checks.broke('cumulativeGas', text)
  }
  return gasSoFar ?? sum
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
