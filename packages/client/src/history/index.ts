/**
 * The history of an address as a live list: kept up to date, correct through reorgs, for React, React Native and any other
 * framework, or none.
 *
 * @packageDocumentation
 */
export { createLiveHistory, type LiveHistory, type LiveHistoryOptions } from './createLiveHistory.ts'
export type { HistoryClient } from './createReader.ts'
export { createStreaming } from './createStreaming.ts'
export {
  type ApplyChanges,
  createPolling,
  type FedList,
  type HistoryFeed,
  type HistoryPosition,
  type HistoryRead
} from './HistoryFeed.ts'
export type {
  FailedRead,
  HistoryFacts,
  HistorySnapshot,
  ReadHistory,
  ReadingProgress,
  UnreadHistory
} from './HistorySnapshot.ts'
export type { Visibility } from './Visibility.ts'
