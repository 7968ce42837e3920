import type { AuditReader, DeepGap, HoldingCandidate, HoldingsReader, StatusReader } from '@chain-data/index'
import type { RecordChunk } from '@chain-data/index/record'

/** One account's history older than the index, as it was read by the hints of a node. */
export interface OlderHistory {
  /** First block that it covers; 0: all. */
  readonly from: number
  /** First block of the index. */
  readonly below: number
  /** The transactions that it may lack, without a trace in the account's state or in logs. */
  readonly lacks: readonly DeepGap[]
  /** Its blocks were read with their traces. */
  readonly isTraced: boolean
  /** Its records before a block, newest first. */
  records(beforeBlock: number): AsyncIterable<RecordChunk>
  readonly candidates: readonly HoldingCandidate[]
}

/** The rows of an account that are added up. */
export type AuditedRows = Pick<AuditReader, 'auditedRecords' | 'accountEvents'>

/**
 * Joins an index with older history. Of that, events of blocks are not known, such as withdrawals. The index may have got older
 * blocks since that history was read.
 */
export function joinOlder(
  snapshot: AuditedRows & HoldingsReader & Pick<StatusReader, 'indexedRange'>,
  older: OlderHistory | undefined
): AuditedRows & HoldingsReader {
  if (older === undefined) return snapshot
  return {
    async *auditedRecords(address) {
      yield* snapshot.auditedRecords(address)
      const { from = older.below } = (await snapshot.indexedRange()) ?? {}
      for await (const chunk of older.records(Math.min(from, older.below))) yield { ...chunk, missing: [] }
    },
    accountEvents: (...asked) => snapshot.accountEvents(...asked),
    async *holdingCandidates(owner) {
      yield* snapshot.holdingCandidates(owner)
      yield older.candidates
    }
  }
}
