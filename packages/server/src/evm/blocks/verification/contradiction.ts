import type { BlockRef } from '../../../model/evm.ts'
import type { WaivableCheck } from '../../../model/waivableChecks.ts'
import { isAbsent, type RawObject, readCount, readHash } from '../../../nodes/evm/rawFields.ts'
import { NodeContradictionError } from '../../../platform/errors.ts'
import type { Waivers } from './waivers.ts'

/**
 * What a node says of a block that cannot be true.
 * @param what - names the place and the disagreement; begins with the block where that is not said yet.
 */
export function contradiction(blockNumber: number, what: string): NodeContradictionError {
  const block = `block ${blockNumber}`
  return new NodeContradictionError(what.startsWith(block) ? what : `${block}: ${what}`, { blockNumber })
}

/**
 * Refuses what breaks a check, unless it is waived for this block.
 * @throws {NodeContradictionError} naming the waiver that would let it pass.
 */
export function insist(check: WaivableCheck, blockNumber: number, waivers: Waivers, what: string): void {
  if (!waivers.passes(check, blockNumber)) throw contradiction(blockNumber, `${what} (waiver ${check})`)
}

/**
 * Checks that a part of a block names no other block; what it does not name is not missed here.
 * @throws {NodeContradictionError} it names another hash or height. Never waived: it would be a part of another block.
 */
export function expectSameBlock({ blockHash, blockNumber }: RawObject, ref: BlockRef, where: string): void {
  if (!isAbsent(blockHash) && blockHash !== ref.hash) {
    const hash = readHash(blockHash, where, 'blockHash')
    if (hash !== ref.hash) throw contradiction(ref.number, `${where} is of block ${hash}, not ${ref.hash}`)
  }
  if (!isAbsent(blockNumber)) {
    const number = readCount(blockNumber, where, 'blockNumber')
    if (number !== ref.number) throw contradiction(ref.number, `${where} is of block ${number}`)
  }
}
