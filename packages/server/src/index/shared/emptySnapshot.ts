import type { Snapshot } from '../port/store.ts'

/** What a reader shows of a chain whose store does not exist yet. */
export const emptySnapshot: Snapshot = {
  indexedRange: async () => undefined,
  marks: async () => ({ backfilled: false, settled: true, degraded: false }),
  rollbacks: async () => 0,
  identity: async () => undefined,
  writerReport: async () => undefined,
  async *records() {},
  countHistory: async () => 0,
  pending: async () => [],
  lookUpHash: async () => ({ kind: 'unknown' }),
  async *holdingCandidates() {},
  coverage: async () => ({}),
  async *auditedRecords() {},
  recount: async () => ({ isComplete: true, missing: [], unresolved: 0 }),
  async *accountEvents() {},
  blockRef: async () => undefined,
  close: async () => {}
}
