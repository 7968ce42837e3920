import type { ConfirmedTransaction, InternalTransfer, TokenTransfer, UserOperation } from '../model/evm.ts'
import { OperationWalk } from './operations.ts'
import { addressLength, hashLength, type RecordParts } from './RecordParts.ts'
import { mapRecords, type RecordChunk, readConfirmed } from './record.ts'
import { hexAt, integerAt } from './recordBytes.ts'
import { InternalWalk, type RecordDetails, TransferWalk } from './transfers.ts'

export type { RecordDetails } from './transfers.ts'

/** A stored transaction with its details. */
export interface DetailedTransaction {
  readonly transaction: ConfirmedTransaction
  readonly details: RecordDetails
}

/**
 * Decodes the records of a chunk, with their details.
 * @throws {StoreError} the bytes are damaged.
 */
export function decodeDetailed(chunk: RecordChunk): readonly DetailedTransaction[] {
  const { bytes } = chunk
  return mapRecords(chunk, (parts, position) => ({
    transaction: readConfirmed(bytes, parts, position),
    details: {
      transfers: readTransfers(bytes, parts),
      ...(parts.layout.isTraced && { internal: readInternal(bytes, parts) }),
      operations: readOperations(bytes, parts)
    }
  }))
}

function readTransfers(bytes: Uint8Array, parts: RecordParts): readonly TokenTransfer[] {
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

function readInternal(bytes: Uint8Array, parts: RecordParts): readonly InternalTransfer[] {
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

function readOperations(bytes: Uint8Array, parts: RecordParts): readonly UserOperation[] {
  if (parts.operationsLength === 0) return []
  const walk = new OperationWalk()
  const operations: UserOperation[] = []
  walk.begin(bytes, parts)
  while (walk.next()) {
    operations.push({
      entryPoint: addressAt(walk.addresses, walk.entryPoint),
      userOpHash: hexAt(bytes, walk.userOpHash, hashLength),
      sender: addressAt(walk.addresses, walk.sender),
      ...(walk.paymaster > 0 && { paymaster: addressAt(walk.addresses, walk.paymaster) }),
      nonce: integerAt(bytes, walk.nonce),
      success: walk.success,
      actualGasCost: integerAt(bytes, walk.actualGasCost)
    })
  }
  return operations
}

function addressAt(addresses: Uint8Array, at: number) {
  return hexAt(addresses, at, addressLength)
}
