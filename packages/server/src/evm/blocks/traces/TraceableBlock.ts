import { ConfirmedParts } from '../../../index/record/ConfirmedParts.ts'
import { addressLength, type BlockRows, hashLength } from '../../../index/record/encodeBlock.ts'
import { toHex } from '../../../index/record/hexBytes.ts'
import type { Address, BlockRef, Hash } from '../../../model/evm.ts'

/** What is known of a block before its traces are asked for, and what these must agree with. */
export interface TraceableBlock {
  readonly ref: BlockRef
  /** In block order. */
  readonly transactions: readonly TraceableTransaction[]
}

export interface TraceableTransaction {
  readonly hash: Hash
  readonly from: Address
  /** Absent: it creates a contract. */
  readonly to?: Address
  readonly value: bigint
  readonly hasFailed: boolean
}

/** @throws {StoreError} the rows are damaged. */
export function traceableBlock({ ref, hashes, records, recordEnds }: BlockRows): TraceableBlock {
  const parts = new ConfirmedParts()
  let start = 0
  const transactions = Array.from(recordEnds, (end, place): TraceableTransaction => {
    parts.locate(records, start)
    start = end
    return {
      hash: toHex(hashes.subarray(place * hashLength, (place + 1) * hashLength)),
      from: addressAt(records, parts.from),
      ...(parts.to >= 0 && { to: addressAt(records, parts.to) }),
      value: integerAt(records, parts.value),
      hasFailed: parts.hasFailed
    }
  })
  return { ref, transactions }
}

function addressAt(bytes: Uint8Array, place: number): Address {
  return toHex(bytes.subarray(place, place + addressLength))
}

/** Its length stands before it. */
function integerAt(bytes: Uint8Array, place: number): bigint {
  const length = bytes[place] ?? 0
  return length === 0 ? 0n : BigInt(toHex(bytes.subarray(place + 1, place + 1 + length)))
}
