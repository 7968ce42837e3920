import { addressLength, type BlockHeader, candidateHeadLength, hashLength } from '../record/encodeBlock.ts'
import { hashBytes } from '../record/hexBytes.ts'
import type { PackedBlocks } from '../record/packBlocks.ts'
import { firstTransactionId } from '../record/transactionId.ts'
import { encodeParties } from '../record/undoParties.ts'
import type { AppendChange } from '../shared/IndexWriter.ts'
import type { SqliteConnection } from './driver.ts'
import { type EpochSums, proofs } from './epochSums.ts'
import { createEpochTable, type Epoch, type MergeLayout } from './epochs.ts'
import { linkCandidates } from './linkedEdits.ts'
import { prepareReorged } from './reorged.ts'
import { prepareSealed } from './sealedRows.ts'
import { holdingNumber, shortHashLength } from './tableShapes.ts'

/** What a batch adds to one epoch: transactions with ids from `firstId` up to, but not including, `endId`. */
interface EpochPart {
  /** As it is afterwards; a new one has no id yet. */
  readonly epoch: Omit<Epoch, 'id'> & { readonly id?: number }
  readonly firstId: number
  readonly endId: number
}

/** Rows of one table: keys of equal length, one after the other, and the transaction id that belongs to each. */
interface AddedKeys {
  readonly keys: Uint8Array
  readonly ids: Float64Array
}

/**
 * Prepares the statements that append blocks. Many rows go in by one statement, because each call of a statement costs as much
 * as its row: keys as one blob, numbers as a JSON array.
 */
export function createBlockAppender(
  connection: SqliteConnection,
  chainId: number,
  { epochTransactions }: Pick<MergeLayout, 'epochTransactions'>,
  sums: EpochSums
) {
  const epochs = createEpochTable(connection)
  const insertBlock = prepareSealed(connection, chainId, 'block', [
    ...['number', 'hash', 'parent_hash', 'timestamp_seconds', 'tx_count']
  ])
  const insertRecord = connection.prepare('INSERT INTO tx VALUES (?, ?)')
  const insertAddresses = connection.prepare(
    `INSERT INTO address_tx (epoch, address, tx_id)
     SELECT ?1, substr(?2, 1 + key * ${addressLength}, ${addressLength}), value FROM json_each(?3)`
  )
  const insertHashes = connection.prepare(
    `INSERT INTO tx_hash (epoch, key, tx_id)
     SELECT ?1, substr(?2, 1 + key * ${shortHashLength}, ${shortHashLength}), value FROM json_each(?3)`
  )
  // One number for each: where it begins, the length of its key, its standard.
  const holdingRows = `SELECT key AS row, substr(?2, 1 + place, ${addressLength}) AS owner,
      substr(?2, ${1 + addressLength} + place, ${addressLength}) AS contract,
      substr(?2, ${1 + candidateHeadLength} + place, length) AS token_id, standard
    FROM (SELECT key, value >> 16 AS place, (value >> 8) & 255 AS length, value & 255 AS standard FROM json_each(?3))`
  const selectKnownHoldings = connection.prepare<{ rows: string | null }>(
    `SELECT group_concat(row) AS rows FROM (${holdingRows}) AS new
     CROSS JOIN holding ON holding.epoch = ?1 AND holding.owner = new.owner AND holding.contract = new.contract
       AND holding.token_id = new.token_id AND holding.standard = new.standard`
  )
  const insertHoldings = connection.prepare(
    `INSERT OR IGNORE INTO holding (epoch, owner, contract, token_id, standard)
     SELECT ?1, owner, contract, token_id, standard FROM (${holdingRows})`
  )
  const showHoldings = connection.prepare(`INSERT OR IGNORE INTO holding_epoch VALUES (?, ${proofs.parts})`)
  // Rows of one account lie together: those of a batch go in by address.
  const insertEvent = prepareSealed(connection, chainId, 'account_event', ['address', 'block', 'rec'])
  const insertUndo = prepareSealed(connection, chainId, 'undo', ['block', 'parties'])
  const deleteUndo = connection.prepare('DELETE FROM undo WHERE block <= ?')
  const reorged = prepareReorged(connection, chainId)
  const beginIndex = connection.prepare('UPDATE meta SET indexed_from = ? WHERE indexed_from IS NULL')
  const setIndexedFrom = connection.prepare('UPDATE meta SET indexed_from = ?')

  const insertKeys = (packed: PackedBlocks, epoch: number, part: EpochPart) => {
    const addresses = addressRows(packed, part)
    if (addresses.ids.length > 0) insertAddresses.run([epoch, addresses.keys, jsonArray(addresses.ids)])
    const hashes = hashRows(packed, part)
    if (hashes.ids.length > 0) insertHashes.run([epoch, hashes.keys, jsonArray(hashes.ids)])
    return { addresses, hashes }
  }

  /** @returns the id of the epoch. */
  const appendPart = (packed: PackedBlocks, part: EpochPart): number => {
    const epoch = { ...part.epoch, id: part.epoch.id ?? epochs.nextId() }
    // Another one may have had this id before it was merged.
    if (part.epoch.id === undefined) sums.forget(epoch.id)
    epochs.put(epoch)
    const { addresses, hashes } = insertKeys(packed, epoch.id, part)
    const parts = sums.of(epoch.id)
    for (let row = 0; row < addresses.ids.length; row++) {
      parts.addresses.add(addresses.keys, row * addressLength, addresses.ids[row] ?? 0)
    }
    for (let row = 0; row < hashes.ids.length; row++) {
      parts.hashes.add(hashes.keys, row * shortHashLength, hashes.ids[row] ?? 0)
    }
    return epoch.id
  }

  const storedRows = (candidates: Uint8Array, shapes: Float64Array, epoch: number): ReadonlySet<number> => {
    const { rows } = selectKnownHoldings.get([epoch, candidates, jsonArray(shapes)]) ?? {}
    return new Set(rows?.split(',').map(Number))
  }

  /** They outlive their blocks, so that their epoch is no more than where they lie. */
  const appendCandidates = (packed: PackedBlocks, epoch: number) => {
    const { candidates, candidateEnds } = packed
    const startOf = (row: number) => candidateEnds[row - 1] ?? 0
    const shapes = Float64Array.from(candidateEnds, (end, row) => {
      const length = end - startOf(row) - candidateHeadLength
      return startOf(row) * 65_536 + length * 256 + (candidates[startOf(row) + 2 * addressLength] ?? 0)
    })
    if (shapes.length === 0) return
    const kept = sums.of(epoch)
    const known = storedRows(candidates, shapes, epoch)
    const added = shapes.filter((_, row) => !known.has(row))
    if (added.length > 0) insertHoldings.run([epoch, candidates, jsonArray(added)])
    for (const [row, end] of candidateEnds.entries()) {
      if (known.has(row)) continue
      const tokenId = candidates.subarray(startOf(row) + candidateHeadLength, end)
      const standard = candidates[startOf(row) + 2 * addressLength] ?? 0
      kept.holdings.add(candidates, startOf(row), holdingNumber(tokenId, standard))
    }
    showHoldings.run([epoch])
  }

  const appendEvents = ({ eventAddresses, eventBlocks, events, eventEnds }: PackedBlocks) => {
    const rows = [...eventBlocks].map((block, row) => ({
      address: slice(eventAddresses, row, addressLength),
      block,
      rec: events.subarray(eventEnds[row - 1] ?? 0, eventEnds[row])
    }))
    rows.sort((a, b) => Buffer.compare(a.address, b.address) || a.block - b.block)
    for (const { address, block, rec } of rows) insertEvent([address, block, rec])
  }

  /** What a reorg removed and a later block has again is confirmed again. */
  const forgetReorged = ({ ids, hashes }: PackedBlocks) => {
    for (let row = 0; row < ids.length; row++) reorged.forget(slice(hashes, row, hashLength))
  }

  /** Rows whose tables have no epochs. */
  const insertRows = (packed: PackedBlocks, undoAbove: number) => {
    const { headers, ids, records, recordEnds } = packed
    for (const { ref, parentHash, timestampSeconds, transactionCount } of headers) {
      insertBlock([
        ref.number,
        hashBytes(ref.hash),
        hashBytes(parentHash),
        timestampSeconds,
        transactionCount
      ])
    }
    for (const [block, parties] of encodeParties(packed, undoAbove)) insertUndo([block, parties])
    let start = 0
    for (const [row, id] of ids.entries()) {
      const end = recordEnds[row] ?? start
      insertRecord.run([id, records.subarray(start, end)])
      start = end
    }
    appendEvents(packed)
  }

  return {
    append(
      packed: PackedBlocks,
      {
        droppable,
        undoAbove,
        mayHaveReorged
      }: Pick<AppendChange, 'droppable' | 'undoAbove' | 'mayHaveReorged'>
    ): void {
      const { headers } = packed
      const first = headers[0]
      if (first === undefined) return
      beginIndex.run([first.ref.number])
      insertRows(packed, undoAbove)
      let newestEpoch = 0
      for (const part of cutIntoEpochs(headers, epochs.newest(), epochTransactions)) {
        newestEpoch = appendPart(packed, part)
      }
      appendCandidates(packed, newestEpoch)
      sums.save()
      deleteUndo.run([droppable])
      if (mayHaveReorged) forgetReorged(packed)
    },
    /** Adds blocks right below the first one. */
    prepend(packed: PackedBlocks, mayHaveReorged: boolean): void {
      const [first, last] = [packed.headers[0], packed.headers.at(-1)]
      if (first === undefined || last === undefined) return
      setIndexedFrom.run([first.ref.number])
      insertRows(packed, last.ref.number)
      const downwards = packed.headers.toReversed()
      let oldestEpoch = 0
      for (const part of cutIntoEpochs(downwards, epochs.growingDown(), epochTransactions)) {
        oldestEpoch = appendPart(packed, part)
      }
      appendCandidates(packed, oldestEpoch)
      sums.save()
      if (mayHaveReorged) forgetReorged(packed)
    },
    /**
     * Puts one block back whose rows have been removed, into the epoch that it was in, and candidates that were lost.
     * The sums of its parts know the rows.
     */
    putBack(packed: PackedBlocks, epoch: Epoch, keepsUndo: boolean): void {
      const number = packed.headers[0]?.ref.number ?? 0
      insertRows(packed, keepsUndo ? number - 1 : number)
      insertKeys(packed, epoch.id, {
        epoch,
        firstId: firstTransactionId(number),
        endId: firstTransactionId(number + 1)
      })
      if (epoch.proof === proofs.parts) appendCandidates(packed, epoch.id)
      else linkCandidates(connection, chainId, epoch, packed)
      sums.save()
    }
  }
}

/**
 * Depends on blocks alone, so that the same chain gives the same epochs however it is cut into batches.
 * @param headers - upwards where blocks are appended, downwards where they are prepended.
 */
function cutIntoEpochs(
  headers: readonly BlockHeader[],
  current: Epoch | undefined,
  epochTransactions: number
): readonly EpochPart[] {
  const parts: EpochPart[] = []
  let epoch: EpochPart['epoch'] | undefined = current
  let isNew = true
  for (const { ref, transactionCount } of headers) {
    const firstId = firstTransactionId(ref.number)
    const endId = firstId + firstTransactionId(1)
    if (epoch === undefined || epoch.proof !== proofs.parts || epoch.txCount >= epochTransactions) {
      epoch = { firstBlock: ref.number, txCount: 0, proof: proofs.parts }
      isNew = true
    }
    epoch = {
      ...epoch,
      firstBlock: Math.min(epoch.firstBlock, ref.number),
      txCount: epoch.txCount + transactionCount
    }
    const { firstId: begun = firstId, endId: end = endId } = (isNew ? undefined : parts.pop()) ?? {}
    parts.push({ epoch, firstId: Math.min(begun, firstId), endId: Math.max(end, endId) })
    isNew = false
  }
  return parts
}

/** Those of one epoch, in their order; nearly always that is all of them. */
function addressRows(
  { ids, partyIds, partyAddresses }: PackedBlocks,
  { firstId, endId }: EpochPart
): AddedKeys {
  const isInside = (id: number) => id >= firstId && id < endId
  if (isInside(ids[0] ?? firstId) && isInside(ids.at(-1) ?? firstId)) {
    return { keys: partyAddresses, ids: partyIds }
  }
  const rows = [...partyIds.keys()].filter(row => isInside(partyIds[row] ?? -1))
  return {
    keys: Buffer.concat(rows.map(row => slice(partyAddresses, row, addressLength))),
    ids: Float64Array.from(rows, row => partyIds[row] ?? 0)
  }
}

/** Those of one epoch, in the order of their keys. */
function hashRows({ ids, hashes }: PackedBlocks, { firstId, endId }: EpochPart): AddedKeys {
  const start = ids.findIndex(id => id >= firstId)
  const end = ids.findLastIndex(id => id < endId) + 1
  const count = start < 0 ? 0 : end - start
  const keys = new Uint8Array(count * shortHashLength)
  const sorted = new Float64Array(count)
  for (const [place, from] of orderByHash(hashes, start, count).entries()) {
    const at = (start + from) * hashLength
    keys.set(hashes.subarray(at, at + shortHashLength), place * shortHashLength)
    sorted[place] = ids[start + from] ?? 0
  }
  return { keys, ids: sorted }
}

/**
 * The rows of `count` transactions from `start` on, by the first bits of their hashes. Numbers made of these bits and the row
 * sort many times quicker than bytes; that a few rows with the same bits may be in the wrong order costs nothing but a page.
 */
function orderByHash(hashes: Uint8Array, start: number, count: number): Float64Array {
  const view = new DataView(hashes.buffer, hashes.byteOffset)
  const rows = 2 ** Math.ceil(Math.log2(Math.max(2, count)))
  const keys = new Float64Array(count)
  for (let row = 0; row < count; row++) {
    keys[row] = view.getUint32((start + row) * hashLength) * rows + row
  }
  return keys.sort().map(key => key % rows)
}

function jsonArray(numbers: Float64Array): string {
  return `[${numbers.join(',')}]`
}

function slice(bytes: Uint8Array, row: number, length: number): Uint8Array {
  return bytes.subarray(row * length, (row + 1) * length)
}
