import type { Address, ConfirmedTransaction, HoldingCandidate, PendingTransaction } from '../src/model/evm.ts'
import type { AuditedChunk, BlockEvents } from '../src/port/audit.ts'
import type { HistoryPart, HistoryReader } from '../src/port/history.ts'
import type { IndexCoverage } from '../src/port/status.ts'
import type { Snapshot, StoreReader } from '../src/port/store.ts'
import { mapRecords, type RecordChunk, readConfirmed } from '../src/record/record.ts'
import type { TransactionPosition } from '../src/record/transactionId.ts'

/** Decodes the records of a chunk. */
export function decodeRecords(chunk: RecordChunk): readonly ConfirmedTransaction[] {
  return mapRecords(chunk, (parts, position) => readConfirmed(chunk.bytes, parts, position))
}

/** Runs `read` over a snapshot of its own. */
export async function withSnapshot<T>(
  reader: StoreReader,
  read: (snapshot: Snapshot) => Promise<T>
): Promise<T> {
  const snapshot = await reader.openSnapshot()
  try {
    return await read(snapshot)
  } finally {
    await snapshot.close()
  }
}

/** Everything an iterable of chunks gives. */
export async function gather<T>(chunks: AsyncIterable<readonly T[]>): Promise<readonly T[]> {
  const all: T[] = []
  for await (const chunk of chunks) all.push(...chunk)
  return all
}

/** A history, decoded, chunk by chunk. */
export async function* readChunks(
  snapshot: HistoryReader,
  address: Address,
  part?: HistoryPart
): AsyncGenerator<readonly ConfirmedTransaction[]> {
  for await (const chunk of snapshot.records(address, part)) yield decodeRecords(chunk)
}

/** A history, or a part of it, in one go. */
export function readHistory(
  snapshot: HistoryReader,
  address: Address,
  part?: HistoryPart
): Promise<readonly ConfirmedTransaction[]> {
  return gather(readChunks(snapshot, address, part))
}

/** A whole history page after page, each page starting at the last record of the one before. */
export async function readPages(
  snapshot: Snapshot,
  address: Address,
  pageSize: number
): Promise<readonly ConfirmedTransaction[]> {
  const all: ConfirmedTransaction[] = []
  let olderThan: TransactionPosition | undefined
  for (;;) {
    const page = await readHistory(snapshot, address, {
      limit: pageSize,
      ...(olderThan !== undefined && { olderThan })
    })
    all.push(...page)
    olderThan = page.at(-1)
    if (page.length < pageSize || olderThan === undefined) return all
  }
}

/** Pool transactions that name an address. */
export function readPending(reader: StoreReader, address: Address): Promise<readonly PendingTransaction[]> {
  return withSnapshot(reader, snapshot => snapshot.pending(address))
}

/** Holding candidates of an owner. */
export function readCandidates(reader: StoreReader, owner: Address): Promise<readonly HoldingCandidate[]> {
  return withSnapshot(reader, snapshot => gather(snapshot.holdingCandidates(owner)))
}

/** What is known of the indexed blocks. */
export function readCoverage(reader: StoreReader): Promise<IndexCoverage> {
  return withSnapshot(reader, snapshot => snapshot.coverage())
}

/** What blocks did to an account besides its transactions. */
export function readEvents(reader: StoreReader, address: Address): Promise<readonly BlockEvents[]> {
  return withSnapshot(reader, snapshot => gather(snapshot.accountEvents(address)))
}

/** All chunks of an audited history. */
export async function readAudit(reader: StoreReader, address: Address): Promise<readonly AuditedChunk[]> {
  return withSnapshot(reader, async snapshot => {
    const chunks: AuditedChunk[] = []
    for await (const chunk of snapshot.auditedRecords(address)) chunks.push(chunk)
    return chunks
  })
}
