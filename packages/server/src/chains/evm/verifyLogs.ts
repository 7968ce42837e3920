import type { BlockRef } from '../../model/evm.ts'
import type { WaivableCheck } from '../../model/waivableChecks.ts'
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
import {
  isAbsent,
  type RawObject,
  readAddress,
  readCount,
  readHash,
  readList,
  readObject
} from './rawFields.ts'
import type { VerifiedBlock, VerifiedTransaction } from './verify.ts'
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
  let logsBefore = 0
  for (const transaction of block.transactions) {
    const where = `block ${ref.number} transaction ${transaction.hash}`
    const logs = logsOf(transaction.receipt, where)
    const bloom = bloomOf(logs, where)
    for (const [place, log] of logs.entries()) {
      verifyPlace(log, `${where} log ${place}`, transaction, ref, waivers)
      const index = isAbsent(log.logIndex)
        ? undefined
        : readCount(log.logIndex, `${where} log ${place}: logIndex`)
      // Logs that were left out have indexes too.
      const fits = index === undefined || (leftOver.length > 0 ? index >= logsBefore : index === logsBefore)
      if (!fits) {
        insist(
          'logIndex',
          ref.number,
          waivers,
          `${where} log ${place} has index ${index}, expected ${logsBefore}`
        )
      }
      logsBefore = leftOver.length > 0 && index !== undefined ? index + 1 : logsBefore + 1
    }
    verifyBloom(transaction.receipt.logsBloom, bloom, `${where}: logsBloom`, ref, waivers)
    mergeBloom(blockBloom, bloom)
  }
  const stated = block.raw.logsBloom
  const what = `block ${ref.number}: logsBloom`
  if (leftOver.length > 0 && !disagreement(stated, blockBloom, what)) return
  for (const receipt of leftOver) mergeBloom(blockBloom, bloomOf(logsOf(receipt, what), what))
  verifyBloom(stated, blockBloom, what, ref, waivers)
}

function logsOf(receipt: RawObject, where: string): readonly RawObject[] {
  if (isAbsent(receipt.logs)) return []
  return readList(receipt.logs, `${where}: logs`).map((log, place) =>
    readObject(log, `${where} log ${place}`)
  )
}

function bloomOf(logs: readonly RawObject[], where: string): Bloom {
  const bloom = createBloom()
  for (const [place, { address, topics }] of logs.entries()) {
    addToBloom(bloom, readAddress(address, `${where} log ${place}: address`))
    const what = `${where} log ${place}: topics`
    for (const topic of readList(topics, what)) addToBloom(bloom, readHash(topic, what))
  }
  return bloom
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
