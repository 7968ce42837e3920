export { deriveRows } from './record/deriveRows.ts'
export { decodeDetailed, type RecordDetails } from './record/details.ts'
export { type BlockRows, encodeBlock } from './record/encodeBlock.ts'
export { accountEventsIn } from './record/extra.ts'
export { addressBytes, hashBytes, toHex } from './record/hexBytes.ts'
export { OperationWalk } from './record/operations.ts'
export { buffersOf, type PackedBlocks, packBlocks } from './record/packBlocks.ts'
export { addressLength, fieldIndex, hashLength, RecordParts } from './record/RecordParts.ts'
export { hashOfRecord, type RecordChunk, readAccessList, readHashes } from './record/record.ts'
export { damaged, varintAt } from './record/recordBytes.ts'
export {
  firstTransactionId,
  maxTransactionsPerBlock,
  type TransactionPosition,
  toPosition,
  toTransactionId
} from './record/transactionId.ts'
export { InternalWalk, TransferWalk } from './record/transfers.ts'
