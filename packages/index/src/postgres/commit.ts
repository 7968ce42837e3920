import { addressLength, type BlockHeader, candidateHeadLength, hashLength } from '../record/encodeBlock.ts'
import { hashBytes } from '../record/hexBytes.ts'
import type { PackedBlocks } from '../record/packBlocks.ts'
import { firstTransactionId, maxTransactionsPerBlock } from '../record/transactionId.ts'
import type { AppendChange } from '../shared/IndexWriter.ts'
import { CopyBuffer } from './copyBuffer.ts'
import { candidates as candidateRows, countedChange, reorgedHashes } from './keyParts.ts'
import { hexArrayLiteral } from './literals.ts'

/*
 * Rows for `COPY .. FROM STDIN (FORMAT binary)`, each table's in one buffer and without a value per row. The order is the one
 * in which they lie in the table's index.
 * https://www.postgresql.org/docs/current/sql-copy.html (binary format)
 */

/** Statements of one transaction, and the rows of each `COPY` among them. */
export interface Script {
  readonly statements: readonly string[]
  readonly rows: readonly Buffer[]
}

/** The statements that append blocks, in the order of `inStoreOrder`. */
export function appendScript(
  blocks: PackedBlocks,
  change: Pick<AppendChange, 'droppable' | 'undoAbove' | 'mayHaveReorged'>
): Script {
  const { headers, ids, eventEnds } = blocks
  const holdings = candidateStatement(blocks)
  const tables: readonly (readonly [string, Buffer])[] = [
    ['block (number, hash, parent_hash, timestamp_seconds, tx_count)', copyBlocks(headers)],
    ['tx', copyRecords(blocks)],
    ['address_tx', copyParties(blocks)],
    ['undo (block, addresses, tx_ids)', copyUndo(blocks, change.undoAbove)],
    ...(eventEnds.length === 0 ? [] : [['account_event (address, block, rec)', copyEvents(blocks)] as const])
  ]
  return {
    statements: [
      ...tables.map(([table]) => `COPY ${table} FROM STDIN (FORMAT binary)`),
      ...(holdings === undefined ? [] : [countedChange(candidateRows, holdings)]),
      `DELETE FROM undo WHERE block <= ${change.droppable}`,
      // What a reorg removed and a later block has again is confirmed again.
      ...(change.mayHaveReorged
        ? [
            countedChange(
              reorgedHashes,
              `DELETE FROM reorged USING tx WHERE tx.id BETWEEN ${ids[0] ?? 0} AND ${ids.at(-1) ?? 0}
                 AND reorged.hash = substring(tx.rec from 2 for 32)`
            )
          ]
        : []),
      `UPDATE meta SET indexed_from = least(indexed_from, ${headers[0]?.ref.number ?? 0}),
         head = greatest(head, ${headers.at(-1)?.ref.number ?? 0}), transactions = transactions + ${ids.length}`
    ],
    rows: tables.map(([, rows]) => rows)
  }
}

/** `block`: number, hash, parent hash, seconds, transactions. */
function copyBlocks(headers: readonly BlockHeader[]): Buffer {
  const rows = new CopyBuffer(headers.length * (2 + 5 * 4 + 8 + 2 * hashLength + 8 + 4))
  for (const { ref, parentHash, timestampSeconds, transactionCount } of headers) {
    rows.begin(5)
    rows.bigint(ref.number)
    rows.bytes(hashBytes(ref.hash))
    rows.bytes(hashBytes(parentHash))
    rows.bigint(timestampSeconds)
    rows.integer(transactionCount)
  }
  return rows.finish()
}

/** `tx`: id, record. */
function copyRecords({ ids, records, recordEnds }: PackedBlocks): Buffer {
  const rows = new CopyBuffer(ids.length * (2 + 2 * 4 + 8) + records.length)
  let start = 0
  for (let i = 0; i < ids.length; i++) {
    const end = recordEnds[i] ?? start
    rows.begin(2)
    rows.bigint(ids[i] ?? 0)
    rows.bytes(records, start, end)
    start = end
  }
  return rows.finish()
}

/** `address_tx`: address, transaction id. */
function copyParties({ partyAddresses, partyIds }: PackedBlocks): Buffer {
  const rows = new CopyBuffer(partyIds.length * (2 + 2 * 4 + addressLength + 8))
  for (let i = 0; i < partyIds.length; i++) {
    rows.begin(2)
    rows.bytes(partyAddresses, i * addressLength, (i + 1) * addressLength)
    rows.bigint(partyIds[i] ?? 0)
  }
  return rows.finish()
}

/** `account_event`: address, block, events. */
function copyEvents({ eventAddresses, eventBlocks, events, eventEnds }: PackedBlocks): Buffer {
  const addresses = Buffer.from(eventAddresses.buffer, eventAddresses.byteOffset, eventAddresses.length)
  const start = (row: number) => row * addressLength
  // Rows of one address stand in the order of their blocks already.
  const order = Array.from(eventEnds, (_, row) => row).sort((a, b) =>
    addresses.compare(addresses, start(b), start(b + 1), start(a), start(a + 1))
  )
  const rows = new CopyBuffer(order.length * (2 + 3 * 4 + addressLength + 8) + events.length)
  for (const row of order) {
    rows.begin(3)
    rows.bytes(addresses, start(row), start(row + 1))
    rows.bigint(eventBlocks[row] ?? 0)
    rows.bytes(events, eventEnds[row - 1] ?? 0, eventEnds[row])
  }
  return rows.finish()
}

/**
 * `undo`: block, addresses, transaction ids.
 * @param above - only of blocks above this one. Blocks without transactions have no row.
 */
function copyUndo({ partyAddresses, partyIds, headers }: PackedBlocks, above: number): Buffer {
  const kept = headers.filter(({ ref, transactionCount }) => ref.number > above && transactionCount > 0)
  const firstBlock = headers[0]?.ref.number ?? 0
  const rowsOf = headers.map((): number[] => [])
  const firstId = firstTransactionId(Math.max(0, above + 1))
  for (let row = 0; row < partyIds.length; row++) {
    const id = partyIds[row] ?? 0
    if (id >= firstId) rowsOf[Math.floor(id / maxTransactionsPerBlock) - firstBlock]?.push(row)
  }
  const size = partyIds.length * (4 + addressLength + 4 + 8) + kept.length * (2 + 3 * 4 + 8 + 2 * 20)
  const rows = new CopyBuffer(size)
  for (const { ref } of kept) {
    const places = rowsOf[ref.number - firstBlock] ?? []
    rows.begin(3)
    rows.bigint(ref.number)
    rows.beginBytesArray(places.length, addressLength)
    for (const row of places) rows.bytes(partyAddresses, row * addressLength, (row + 1) * addressLength)
    rows.beginBigintArray(places.length)
    for (const row of places) rows.bigint(partyIds[row] ?? 0)
  }
  return rows.finish()
}

/**
 * Adds the candidates, uncounted, that `holding` does not have yet, as one statement with its rows in it: most of them are there already,
 * and `COPY` cannot pass over those. A temporary table to copy them into first would be no quicker, and a writer that ends
 * would have to remove it before its lock is free.
 * @returns absent when there are none.
 */
export function candidateStatement({ candidates, candidateEnds }: PackedBlocks): string | undefined {
  if (candidateEnds.length === 0) return undefined
  const bytes = Buffer.from(candidates.buffer, candidates.byteOffset, candidates.length)
  const [owners, contracts, tokenIds, standards]: [string[], string[], string[], number[]] = [[], [], [], []]
  let start = 0
  for (const end of candidateEnds) {
    const [contract, standard] = [start + addressLength, start + 2 * addressLength]
    owners.push(bytes.toString('hex', start, contract))
    contracts.push(bytes.toString('hex', contract, standard))
    standards.push(bytes[standard] ?? 0)
    tokenIds.push(bytes.toString('hex', start + candidateHeadLength, end))
    start = end
  }
  const columns = [
    ...[owners, contracts, tokenIds].map(hexArrayLiteral),
    `'{${standards.join(',')}}'::smallint[]`
  ]
  return `INSERT INTO holding SELECT * FROM unnest(${columns.join(', ')}) ON CONFLICT DO NOTHING`
}
