import type { BlockRef, Hash } from '@chain-data/index'
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
import type { BlockChecks } from './blockChecks.ts'
import { aboutReceipt, contradiction, expectSameBlock } from './contradiction.ts'
import { type BloomFault, LogsBloom } from './logsBloom.ts'
import type { VerifiedBlock, VerifiedTransaction } from './verifiedBlock.ts'

/**
 * Checks that the logs of a block are its own and complete: each has an address and topics and names no other block,
 * transaction or index; their indexes count through the block; and the blooms of receipts and block are theirs.
 *
 * One missing log stays unseen: the last one of a block, when all its values are in the bloom already. Only rebuilding the
 * receipts trie would show it, and that needs every chain's own encoding.
 *
 * @param leftOver - receipts of the block that belong to none of its transactions; their logs are in the block's bloom
 *   on some chains and not on others.
 * @throws {NodeContradictionError} naming the block, the log and the disagreement.
 */
export function verifyLogs(block: VerifiedBlock, leftOver: readonly RawObject[], checks: BlockChecks): void {
  const { ref } = block
  const whole = new LogsBloom()
  const committed = new LogsBloom(whole)
  const system = new LogsBloom()
  const refuse = (fault: BloomFault | undefined, where: string) => {
    if (fault === undefined) return
    const text =
      fault === 'emptyBloom' ? 'is all zero although there are logs' : 'is not the bloom of the logs'
    checks.broke(fault, `${where}: logsBloom ${text}`)
  }
  // Logs of receipts that were left out, or are unknown, take up indexes too.
  const mayLeaveGaps = leftOver.length > 0 || block.unknown !== undefined
  let nextIndex = 0
  let about: Hash | undefined
  try {
    for (const transaction of block.transactions) {
      const { hash, receipt } = transaction
      if (receipt === undefined) continue
      about = hash
      const where = `block ${ref.number} transaction ${hash}`
      const own = block.system.has(hash) ? system : committed
      own.clear()
      const logs = logsOf(receipt, where)
      for (let i = 0; i < logs.length; i++) {
        const log = logs[i] as RawObject
        if (!isAsItsReceipt(log, receipt))
          verifyLogPosition(log, `${where} log ${i}`, transaction, ref, checks)
        const index = smallQuantity(log.logIndex) ?? readLogIndex(log, where, i) ?? nextIndex
        if (mayLeaveGaps ? index < nextIndex : index !== nextIndex) {
          const text = `${where} log ${i} has index ${index}, expected ${nextIndex}`
          checks.broke('logIndex', text)
        }
        nextIndex = mayLeaveGaps ? index + 1 : nextIndex + 1
      }
      addLogs(logs, own, where)
      refuse(own.compare(receipt.logsBloom, where), where)
    }
  } catch (error) {
    throw aboutReceipt(error, about)
  }
  // What an unknown receipt adds to the bloom is not known.
  if (block.unknown !== undefined) return
  const stated = block.raw.logsBloom
  const where = `block ${ref.number}`
  if (mayLeaveGaps && whole.compare(stated, where) === undefined) return
  for (const receipt of leftOver) addLogs(logsOf(receipt, where), whole, where)
  refuse(whole.compare(stated, where), where)
}

function logsOf(receipt: RawObject, where: string): readonly RawObject[] {
  if (isAbsent(receipt.logs)) return []
  const logs = readList(receipt.logs, where, 'logs')
  return logs.map((log, i) => (isPlainObject(log) ? log : readObject(log, `${where} log ${i}`)))
}

function isPlainObject(value: unknown): value is RawObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function readLogIndex({ logIndex }: RawObject, where: string, i: number): number | undefined {
  return isAbsent(logIndex) ? undefined : readCount(logIndex, `${where} log ${i}: logIndex`)
}

function addLogs(logs: readonly RawObject[], bloom: LogsBloom, where: string): void {
  for (const { address, topics } of logs) {
    if (!bloom.addKnown(address, 40)) bloom.add(readAddress(address, where, 'address of a log'))
    for (const topic of readList(topics, where, 'topics of a log')) {
      if (!bloom.addKnown(topic, 64)) bloom.add(readHash(topic, where, 'topics of a log'))
    }
  }
}

/** Reports whether a log names its block and transaction word for word as its receipt does, which has been checked. */
function isAsItsReceipt(log: RawObject, receipt: RawObject): boolean {
  return (
    log.blockHash === receipt.blockHash &&
    log.blockNumber === receipt.blockNumber &&
    log.transactionHash === receipt.transactionHash &&
    log.transactionIndex === receipt.transactionIndex
  )
}

function verifyLogPosition(
  log: RawObject,
  where: string,
  { hash, index, raw }: VerifiedTransaction,
  ref: BlockRef,
  checks: BlockChecks
): void {
  expectSameBlock(log, ref, where)
  if (!isAbsent(log.transactionHash)) {
    const named = readHash(log.transactionHash, where, 'transactionHash')
    if (named !== hash) throw contradiction(ref.number, `${where} is of transaction ${named}`)
  }
  if (!isAbsent(log.transactionIndex) && !isAbsent(raw.transactionIndex)) {
    const named = readCount(log.transactionIndex, where, 'transactionIndex')
    if (named !== index) {
      checks.broke('logIndex', `${where} is of transaction index ${named}, expected ${index}`)
    }
  }
}
