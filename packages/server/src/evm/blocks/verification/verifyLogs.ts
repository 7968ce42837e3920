import type { BlockRef } from '../../../model/evm.ts'
import {
  isAbsent,
  type RawObject,
  readAddress,
  readCount,
  readHash,
  readList,
  readObject,
  smallQuantity
} from '../../../nodes/evm/rawFields.ts'
import { contradiction, expectSameBlock, insist, type Waivers } from './contradiction.ts'
import { type BloomFault, LogsBloom } from './logsBloom.ts'
import type { VerifiedBlock, VerifiedTransaction } from './verifiedBlock.ts'

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
  const whole = new LogsBloom()
  const own = new LogsBloom(whole)
  const refuse = (fault: BloomFault | undefined, where: string) => {
    if (fault === undefined) return
    const text =
      fault === 'emptyBloom' ? 'is all zero although there are logs' : 'is not the bloom of the logs'
    insist(fault, ref.number, waivers, `${where}: logsBloom ${text}`)
  }
  // Logs that were left out have indexes too.
  const mayLeaveGaps = leftOver.length > 0
  let nextIndex = 0
  for (const transaction of block.transactions) {
    const { receipt } = transaction
    const where = `block ${ref.number} transaction ${transaction.hash}`
    own.clear()
    const logs = logsOf(receipt, where)
    for (let place = 0; place < logs.length; place++) {
      const log = logs[place] as RawObject
      if (!isSamePlace(log, receipt)) verifyPlace(log, `${where} log ${place}`, transaction, ref, waivers)
      const index = smallQuantity(log.logIndex) ?? readLogIndex(log, where, place) ?? nextIndex
      if (mayLeaveGaps ? index < nextIndex : index !== nextIndex) {
        const text = `${where} log ${place} has index ${index}, expected ${nextIndex}`
        insist('logIndex', ref.number, waivers, text)
      }
      nextIndex = mayLeaveGaps ? index + 1 : nextIndex + 1
    }
    addLogs(logs, own, where)
    refuse(own.compare(receipt.logsBloom, where), where)
  }
  const stated = block.raw.logsBloom
  const where = `block ${ref.number}`
  if (mayLeaveGaps && whole.compare(stated, where) === undefined) return
  for (const receipt of leftOver) addLogs(logsOf(receipt, where), whole, where)
  refuse(whole.compare(stated, where), where)
}

function logsOf(receipt: RawObject, where: string): readonly RawObject[] {
  if (isAbsent(receipt.logs)) return []
  const logs = readList(receipt.logs, where, 'logs')
  return logs.map((log, place) => (isPlainObject(log) ? log : readObject(log, `${where} log ${place}`)))
}

function isPlainObject(value: unknown): value is RawObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function readLogIndex({ logIndex }: RawObject, where: string, place: number): number | undefined {
  return isAbsent(logIndex) ? undefined : readCount(logIndex, `${where} log ${place}: logIndex`)
}

function addLogs(logs: readonly RawObject[], bloom: LogsBloom, where: string): void {
  for (const { address, topics } of logs) {
    if (!bloom.addKnown(address, 40)) bloom.add(readAddress(address, where, 'address of a log'))
    for (const topic of readList(topics, where, 'topics of a log')) {
      if (!bloom.addKnown(topic, 64)) bloom.add(readHash(topic, where, 'topics of a log'))
    }
  }
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
    const named = readHash(log.transactionHash, where, 'transactionHash')
    if (named !== hash) throw contradiction(ref.number, `${where} is of transaction ${named}`)
  }
  if (!isAbsent(log.transactionIndex) && !isAbsent(raw.transactionIndex)) {
    const named = readCount(log.transactionIndex, where, 'transactionIndex')
    if (named !== index) {
      insist('logIndex', ref.number, waivers, `${where} is of transaction index ${named}, expected ${index}`)
    }
  }
}
