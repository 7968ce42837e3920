export { decodeAccountEvents } from './record/accountEvents.ts'
export { decodeDetailed, type RecordDetails } from './record/details.ts'
export { addressLength, type BlockRows, encodeBlock, hashLength } from './record/encodeBlock.ts'
export { addressBytes, hashBytes, toHex } from './record/hexBytes.ts'
export { OperationWalk } from './record/operations.ts'
export { buffersOf, type PackedBlocks, packBlocks } from './record/packBlocks.ts'
export { fieldIndex, RecordParts } from './record/RecordParts.ts'
export { type RecordChunk, readAccessList, readHashes } from './record/record.ts'
export { damaged, varintAt } from './record/recordBytes.ts'
export {
  firstTransactionId,
  maxTransactionsPerBlock,
  type TransactionPosition,
  toPosition,
  toTransactionId
} from './record/transactionId.ts'
export { InternalWalk, TransferWalk } from './record/transfers.ts'
