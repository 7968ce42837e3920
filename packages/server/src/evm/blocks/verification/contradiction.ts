import type { BlockRef, Hash } from '@chain-data/index'
import { isUnknownPart, type WaivableCheck, type Waiver } from '../../../model/waivableChecks.ts'
import { isAbsent, type RawObject, readCount, readHash } from '../../../nodes/evm/rawFields.ts'
import { NodeContradictionError } from '../../../platform/errors.ts'
import type { Logger } from '../../../platform/logger.ts'

/**
 * Creates the error for an answer about a block that cannot be true.
 * @param what - names the part and the disagreement; the block is put before it where it is missing.
 * @param isMissing - the node does not have the block or its receipts (yet, or any longer).
 */
export function contradiction(blockNumber: number, what: string, isMissing = false): NodeContradictionError {
  const block = `block ${blockNumber}`
  const text = what.startsWith(block) ? what : `${block}: ${what}`
  return new NodeContradictionError(text, { blockNumber, ...(isMissing ? { isMissing } : {}) })
}

/**
 * Adds to a failure of a check which transaction's receipt it is about, so that this receipt alone can count as unknown.
 * @param hash - absent: it is about no single receipt.
 */
export function aboutReceipt(failure: unknown, hash: Hash | undefined): unknown {
  if (!(failure instanceof NodeContradictionError) || hash === undefined) return failure
  return new NodeContradictionError(failure.message, { ...failure.context, receiptOf: hash })
}

/**
 * Checks that a part of a block names no other block. A part that names no block passes.
 * @throws {NodeContradictionError} it names another hash or height. This is never waived: it is a part of another block.
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

/** The checks that blocks of one chain may break. */
export interface Waivers {
  /** Reports whether a block may break this check. Called only for a broken check: each `true` is counted as a use. */
  passes(check: WaivableCheck, blockNumber: number): boolean
}

/** Waives no check. */
export const noWaivers: Waivers = { passes: () => false }

/** Leaves out the waivers that let a part of a block count as unknown. */
export function withoutUnknown(waivers: Waivers): Waivers {
  return {
    passes: (check, blockNumber) => !isUnknownPart(check) && waivers.passes(check, blockNumber)
  }
}

/**
 * Creates the waivers of one chain's configuration.
 * @param logger - gets the first use of each check in this run at info, which shows an operator the waivers that the chain
 *   needs, and each further use at debug with the count so far. A block that is read twice is counted twice.
 */
export function createWaivers(list: readonly Waiver[], logger?: Logger): Waivers {
  const uses = new Map<WaivableCheck, number>()
  return {
    passes(check, blockNumber) {
      const waiver = list.find(
        ({ check: name, fromBlock = 0, toBlock }) =>
          name === check && blockNumber >= fromBlock && blockNumber <= (toBlock ?? Number.MAX_SAFE_INTEGER)
      )
      if (waiver === undefined) return false
      const count = (uses.get(check) ?? 0) + 1
      uses.set(check, count)
      const fields = { blockNumber, reason: waiver.reason, count }
      if (count === 1) logger?.info(`the waiver ${check} is needed`, fields)
      else logger?.debug(`the waiver ${check} is used`, fields)
      return true
    }
  }
}

const emptyRoot = '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421'

/** Reports whether a root in a header is that of an empty trie. */
export function isEmptyRoot(root: unknown): boolean {
  return typeof root === 'string' && root.toLowerCase() === emptyRoot
}

/** Keccak-256 of no bytes, which cannot be the root of anything. */
export const hashOfNothing = '0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470'

/** Reports whether a node wrote zeros because it has no hash. */
export function isZeroHash(hash: unknown): boolean {
  return typeof hash === 'string' && /^0x0*$/i.test(hash)
}
