import { addressLength, type BlockHeader, type BlockRows } from './encodeBlock.ts'
import { candidateHeadLength } from './tokenKey.ts'
import { firstTransactionId } from './transactionId.ts'

/**
 * Consecutive blocks as a few large buffers, which can be transferred to another thread (`buffersOf` lists them). Rows are in
 * the order of the blocks; `inStoreOrder` sorts them.
 */
export interface PackedBlocks {
  readonly headers: readonly BlockHeader[]
  /** Transaction id (`toTransactionId`) of each transaction, ascending. */
  readonly ids: Float64Array<ArrayBuffer>
  /** 32 bytes for each transaction, in the order of `ids`. */
  readonly hashes: Uint8Array<ArrayBuffer>
  /** The records, concatenated in the order of `ids`. */
  readonly records: Uint8Array<ArrayBuffer>
  /** Where each record ends. */
  readonly recordEnds: Uint32Array<ArrayBuffer>
  /** Rows of the address index, each once: 20 bytes for each. */
  readonly partyAddresses: Uint8Array<ArrayBuffer>
  /** Transaction id of each of these rows. */
  readonly partyIds: Float64Array<ArrayBuffer>
  /** Roles of each of these rows. */
  readonly partyRoles: Uint8Array<ArrayBuffer>
  /** Holding candidates as in `BlockRows`. */
  readonly candidates: Uint8Array<ArrayBuffer>
  /** Where each candidate ends. */
  readonly candidateEnds: Uint32Array<ArrayBuffer>
  /** Transaction id of each candidate. */
  readonly candidateIds: Float64Array<ArrayBuffer>
  /** Roles of each candidate. */
  readonly candidateRoles: Uint8Array<ArrayBuffer>
  /** Rows of account events, by block: 20 bytes for each. */
  readonly eventAddresses: Uint8Array<ArrayBuffer>
  /** Block number of each of these rows. */
  readonly eventBlocks: Float64Array<ArrayBuffer>
  /** The events of the rows, concatenated. */
  readonly events: Uint8Array<ArrayBuffer>
  /** Where the events of each row end. */
  readonly eventEnds: Uint32Array<ArrayBuffer>
  /** The extra bytes of the blocks (`encodeExtra`), concatenated. */
  readonly extras: Uint8Array<ArrayBuffer>
  /** Where the extra bytes of each block end. */
  readonly extraEnds: Uint32Array<ArrayBuffer>
}

/** Lists the buffers for a transfer to another thread; afterwards they are empty here. */
export function buffersOf(packed: PackedBlocks): readonly ArrayBuffer[] {
  const { headers: _, ...arrays } = packed
  return Object.values(arrays).map(({ buffer }) => buffer)
}

/** Joins the rows of consecutive blocks. */
export function packBlocks(blocks: readonly BlockRows[]): PackedBlocks {
  const count = blocks.reduce((sum, { transactionCount }) => sum + transactionCount, 0)
  const ids = new Float64Array(count)
  const recordEnds = new Uint32Array(count)
  let at = 0
  let recordBytes = 0
  for (const { ref, indexes, records, recordEnds: ends } of blocks) {
    const first = firstTransactionId(ref.number)
    for (const [row, index] of indexes.entries()) {
      ids[at] = first + index
      recordEnds[at++] = recordBytes + (ends[row] ?? 0)
    }
    recordBytes += records.length
  }
  return {
    headers: blocks.map(
      ({ ref, parentHash, timestampSeconds, transactionCount, isTraced, hasVerifiedRoots, hasUnknown }) => ({
        ref,
        parentHash,
        timestampSeconds,
        transactionCount,
        isTraced,
        hasVerifiedRoots,
        hasUnknown
      })
    ),
    ids,
    hashes: join(blocks.map(({ hashes }) => hashes)),
    records: join(blocks.map(({ records }) => records)),
    recordEnds,
    partyAddresses: join(blocks.map(({ parties }) => parties)),
    partyIds: partyIdsOf(blocks, ids),
    partyRoles: join(blocks.map(({ partyRoles }) => partyRoles)),
    ...joinCandidates(blocks),
    ...joinEvents(blocks),
    extras: join(blocks.map(({ extra }) => extra)),
    extraEnds: endsOf(blocks.map(({ extra }) => extra))
  }
}

function joinEvents(
  blocks: readonly BlockRows[]
): Pick<PackedBlocks, 'eventAddresses' | 'eventBlocks' | 'events' | 'eventEnds'> {
  const count = blocks.reduce((sum, { eventEnds }) => sum + eventEnds.length, 0)
  const eventBlocks = new Float64Array(count)
  const eventEnds = new Uint32Array(count)
  let row = 0
  let before = 0
  for (const { ref, events, eventEnds: ends } of blocks) {
    for (const end of ends) {
      eventBlocks[row] = ref.number
      eventEnds[row++] = before + end
    }
    before += events.length
  }
  return {
    eventAddresses: join(blocks.map(block => block.eventAddresses)),
    eventBlocks,
    events: join(blocks.map(({ events }) => events)),
    eventEnds
  }
}

function endsOf(parts: readonly Uint8Array[]): Uint32Array<ArrayBuffer> {
  let end = 0
  return Uint32Array.from(parts, ({ length }) => {
    end += length
    return end
  })
}

function join(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const joined = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    joined.set(part, at)
    at += part.length
  }
  return joined
}

function partyIdsOf(blocks: readonly BlockRows[], ids: Float64Array): Float64Array<ArrayBuffer> {
  const count = blocks.reduce((sum, { parties }) => sum + parties.length / addressLength, 0)
  const partyIds = new Float64Array(count)
  let row = 0
  let transaction = 0
  for (const { partyEnds } of blocks) {
    let before = 0
    for (const end of partyEnds) {
      partyIds.fill(ids[transaction++] ?? 0, row, row + end - before)
      row += end - before
      before = end
    }
  }
  return partyIds
}

function joinCandidates(
  blocks: readonly BlockRows[]
): Pick<PackedBlocks, 'candidates' | 'candidateEnds' | 'candidateIds' | 'candidateRoles'> {
  const candidates = join(blocks.map(block => block.candidates))
  const ends: number[] = []
  for (let at = 0; at < candidates.length; ) {
    at += candidateHeadLength + (candidates[at + candidateHeadLength - 1] ?? 0)
    ends.push(at)
  }
  const candidateIds = new Float64Array(ends.length)
  let row = 0
  for (const { candidateIds: ids } of blocks) {
    candidateIds.set(ids, row)
    row += ids.length
  }
  return {
    candidates,
    candidateEnds: Uint32Array.from(ends),
    candidateIds,
    candidateRoles: join(blocks.map(({ candidateRoles }) => candidateRoles))
  }
}
