import type { ConfirmedTransaction, InternalTransfer, TokenTransfer } from '../../model/evm.ts'
import { ConfirmedParts } from './ConfirmedParts.ts'
import type { RecordDetails } from './encodeDetails.ts'
import { toHex } from './hexBytes.ts'
import { InternalWalk } from './InternalWalk.ts'
import { decodeConfirmed, type RecordChunk } from './record.ts'
import { damaged } from './recordBytes.ts'
import { TransferWalk } from './TransferWalk.ts'
import { toPosition } from './transactionId.ts'

export type { RecordDetails } from './encodeDetails.ts'

const addressLength = 20

/** A stored transaction with what is known of what happened in it. */
export interface DetailedTransaction {
  readonly transaction: ConfirmedTransaction
  readonly details: RecordDetails
}

/**
 * The records of a chunk as values, with their details.
 * @throws {StoreError} the bytes are damaged, or written by a newer version.
 */
export function decodeDetailed({ ids, bytes }: RecordChunk): readonly DetailedTransaction[] {
  const parts = new ConfirmedParts()
  let at = 0
  const transactions = ids.map(id => {
    const start = at
    at = parts.locate(bytes, start)
    const transaction = decodeConfirmed(bytes.subarray(start, at), toPosition(id))
    return { transaction, details: readDetails(bytes, parts) }
  })
  if (at !== bytes.length) throw damaged('it has bytes left over')
  return transactions
}

/**
 * @param parts - has located the record last, in these bytes.
 * @throws {StoreError} the bytes are damaged.
 */
export function readDetails(bytes: Uint8Array, parts: ConfirmedParts): RecordDetails {
  return {
    ...(parts.knowsTransfers && { transfers: readTransfers(bytes, parts) }),
    ...(parts.knowsInternal && { internal: readInternal(bytes, parts) })
  }
}

function readTransfers(bytes: Uint8Array, parts: ConfirmedParts): readonly TokenTransfer[] {
  if (parts.transfersLength === 0) return []
  const walk = new TransferWalk()
  const transfers: TokenTransfer[] = []
  walk.begin(bytes, parts)
  while (walk.next()) {
    transfers.push({
      standard: walk.standard,
      contract: addressAt(walk.addresses, walk.contract),
      from: addressAt(walk.addresses, walk.from),
      to: addressAt(walk.addresses, walk.to),
      ...(walk.amount >= 0 && { amount: integerAt(walk.numbers, walk.amount) }),
      ...(walk.tokenId >= 0 && { tokenId: integerAt(walk.numbers, walk.tokenId) }),
      ...(walk.lastTokenId >= 0 && { lastTokenId: integerAt(walk.numbers, walk.lastTokenId) }),
      ...(walk.isWrapping && { isWrapping: true })
    })
  }
  return transfers
}

function readInternal(bytes: Uint8Array, parts: ConfirmedParts): readonly InternalTransfer[] {
  if (parts.internalLength === 0) return []
  const walk = new InternalWalk()
  const transfers: InternalTransfer[] = []
  walk.begin(bytes, parts)
  while (walk.next()) {
    transfers.push({
      kind: walk.kind,
      from: addressAt(walk.addresses, walk.from),
      to: addressAt(walk.addresses, walk.to),
      value: integerAt(bytes, walk.value)
    })
  }
  return transfers
}

function addressAt(addresses: Uint8Array, place: number) {
  return toHex(addresses.subarray(place, place + addressLength))
}

function integerAt(bytes: Uint8Array, place: number): bigint {
  const length = bytes[place] ?? 0
  return length === 0 ? 0n : BigInt(toHex(bytes.subarray(place + 1, place + 1 + length)))
}
