export { hasLeft } from './caches/StoredAccounts.ts'
export { checkNobodyWrites, lockFile } from './locks.ts'
export { type BlockSpan, formatSpans, joinSpans } from './model/blockSpans.ts'
export type { DeepGap, DeepHistoryCache, DeepRecord } from './model/deepHistory.ts'
export type {
  AccessListEntry,
  AccountEvent,
  AccountEvents,
  Address,
  BlockRef,
  ConfirmedTransaction,
  EvmTransaction,
  Hash,
  Hex,
  HoldingCandidate,
  IndexedBlock,
  IndexedTransaction,
  InternalTransfer,
  PendingTransaction,
  TokenStandard,
  TokenTransfer,
  UserOperation
} from './model/evm.ts'
export type { StoreLocation } from './model/location.ts'
export {
  type CachedFailure,
  type MetadataCache,
  type MetadataKind,
  type MetadataRecord,
  noMetadataCache
} from './model/metadata.ts'
export { describeOtherGenesis } from './model/otherGenesis.ts'
export type { IndexIntegrity, Integrity, SyncStatus } from './model/sync.ts'
export { type Field, transactionFields, wireFields } from './model/transactionFields.ts'
export { openDeepHistoryCaches, openMetadataCache, openSolanaHistoryCache } from './openCaches.ts'
export { openIndexToReset } from './openIndexToReset.ts'
export { createChainReaders, freeBytes, openStoreReader, storeBytes } from './openStoreReaders.ts'
export { openStoreWriter, type StoreWriterOptions } from './openStoreWriter.ts'
export {
  ChainDataError,
  codeOf,
  type Damage,
  describeDamage,
  type ErrorContext,
  IndexDamagedError,
  noDescriptorCodes,
  StoreError,
  StoreLostError,
  StoreUnavailableError,
  storeFaults
} from './platform/errors.ts'
export { isFolder, makeFolder, nearestExisting } from './platform/makeFolder.ts'
export type { AuditReader, MissingPart } from './port/audit.ts'
export {
  type AccountChange,
  type ChangeBounds,
  type ChangePosition,
  ChangesExpiredError
} from './port/changes.ts'
export type { HistoryPart, HistoryReader } from './port/history.ts'
export type { HoldingsReader } from './port/holdings.ts'
export type { PoolReader, PoolUpdate } from './port/pool.ts'
export type {
  ChainIdentity,
  IndexCoverage,
  IndexedRange,
  IndexMarks,
  StatusReader,
  StoredBlock,
  WriterReport
} from './port/status.ts'
export type { IndexState, Snapshot, SnapshotOptions, StoreReader } from './port/store.ts'
export { type FencedWriter, StoreInUseError, type StoreWriter, type WriterState } from './port/writer.ts'
export { readServerFacts } from './postgres/serverFacts.ts'
export { accountKeys } from './record/accountKeys.ts'
export { ChangeFilter } from './record/ChangeFilter.ts'
export type { WriterLock } from './sqlite/lock.ts'
export { type CheckedPiece, walkIndex } from './walkIndex.ts'
