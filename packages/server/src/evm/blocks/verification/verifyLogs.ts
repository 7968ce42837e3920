import type { BlockRef } from '../../../model/evm.ts'
import type { WaivableCheck } from '../../../model/waivableChecks.ts'
import {
  isAbsent,
  type RawObject,
  readAddress,
  readCount,
  readHash,
  readList,
  readObject
} from '../../../nodes/evm/rawFields.ts'
import { contradiction, expectSameBlock, insist } from './contradiction.ts'
import {
  addToBloom,
  type Bloom,
  createBloom,
  isEmptyBloom,
  mergeBloom,
  readBloom,
  sameBloom
} from './logsBloom.ts'
import type { VerifiedBlock, VerifiedTransaction } from './verifiedBlock.ts'
import type { Waivers } from './waivers.ts'

/**
 * Checks that the logs of a block are its own and complete: each has an address and topics and names no other block,
 * transaction or place; their indexes count through the block; and the blooms of receipts and block are theirs.
 *
 * What this cannot see is a log that leaves no trace: the last one of a block, with nothing in it that the bloom does
 * not hold already. Only rebuilding the receipts trie could, and that needs every chain's own encoding.
 *
 * @param leftOver - receipts of the block that belong to none of its transactions; their logs are in the block's bloom
 *   on some chains and not on others.
 * @throws {NodeContradictionError} naming the block, the place and the disagreement.
 */
export function verifyLogs(block: VerifiedBlock, leftOver: readonly RawObject[], waivers: Waivers): void {
  const { ref } = block
  const blockBloom = createBloom()
  // Logs that were left out have indexes too.
  const mayLeaveGaps = leftOver.length > 0
  let nextIndex = 0
  for (const transaction of block.transactions) {
    const where = `block ${ref.number} transaction ${transaction.hash}`
    const logs = logsOf(transaction.receipt, where)
    for (const [place, log] of logs.entries()) {
      if (!isSamePlace(log, transaction.receipt)) {
        verifyPlace(log, `${where} log ${place}`, transaction, ref, waivers)
      }
      const index = readLogIndex(log, where, place) ?? nextIndex
      if (mayLeaveGaps ? index < nextIndex : index !== nextIndex) {
        const text = `${where} log ${place} has index ${index}, expected ${nextIndex}`
        insist('logIndex', ref.number, waivers, text)
      }
      nextIndex = mayLeaveGaps ? index + 1 : nextIndex + 1
    }
    const bloom = bloomOf(logs, where)
    verifyBloom(transaction.receipt.logsBloom, bloom, `${where}: logsBloom`, ref, waivers)
    if (logs.length > 0) mergeBloom(blockBloom, bloom)
  }
  const stated = block.raw.logsBloom
  const what = `block ${ref.number}: logsBloom`
  if (mayLeaveGaps && !disagreement(stated, blockBloom, what)) return
  for (const receipt of leftOver) mergeBloom(blockBloom, bloomOf(logsOf(receipt, what), what))
  verifyBloom(stated, blockBloom, what, ref, waivers)
}

function logsOf(receipt: RawObject, where: string): readonly RawObject[] {
  if (isAbsent(receipt.logs)) return []
  const logs = readList(receipt.logs, `${where}: logs`)
  return logs.map((log, place) => (isPlainObject(log) ? log : readObject(log, `${where} log ${place}`)))
}

function isPlainObject(value: unknown): value is RawObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function readLogIndex({ logIndex }: RawObject, where: string, place: number): number | undefined {
  return isAbsent(logIndex) ? undefined : readCount(logIndex, `${where} log ${place}: logIndex`)
}

function bloomOf(logs: readonly RawObject[], where: string): Bloom {
  const bloom = createBloom()
  for (const { address, topics } of logs) {
    addToBloom(bloom, readAddress(address, `${where}: address of a log`))
    const what = `${where}: topics of a log`
    for (const topic of readList(topics, what)) addToBloom(bloom, readHash(topic, what))
  }
  return bloom
}

/** Almost every log repeats its receipt word for word, and the receipt has been checked. */
function isSamePlace(log: RawObject, receipt: RawObject): boolean {
  return (
    log.blockHash === receipt.blockHash &&
    log.blockNumber === receipt.blockNumber &&
    log.transactionHash === receipt.transactionHash &&
    log.transactionIndex === receipt.transactionIndex
  )
}

function verifyPlace(
  log: RawObject,
  where: string,
  { hash, index, raw }: VerifiedTransaction,
  ref: BlockRef,
  waivers: Waivers
): void {
  expectSameBlock(log, ref, where)
  if (!isAbsent(log.transactionHash)) {
    const named = readHash(log.transactionHash, `${where}: transactionHash`)
    if (named !== hash) throw contradiction(ref.number, `${where} is of transaction ${named}`)
  }
  if (!isAbsent(log.transactionIndex) && !isAbsent(raw.transactionIndex)) {
    const named = readCount(log.transactionIndex, `${where}: transactionIndex`)
    if (named !== index) {
      insist('logIndex', ref.number, waivers, `${where} is of transaction index ${named}, expected ${index}`)
    }
  }
}

function verifyBloom(stated: unknown, actual: Bloom, what: string, ref: BlockRef, waivers: Waivers): void {
  const check = disagreement(stated, actual, what)
  if (check === undefined) return
  const text = check === 'emptyBloom' ? 'is all zero although there are logs' : 'is not the bloom of the logs'
  insist(check, ref.number, waivers, `${what} ${text}`)
}

function disagreement(stated: unknown, actual: Bloom, what: string): WaivableCheck | undefined {
  const bloom = readBloom(stated, what)
  if (bloom === undefined || sameBloom(bloom, actual)) return undefined
  return isEmptyBloom(bloom) ? 'emptyBloom' : 'logsBloom'
}
