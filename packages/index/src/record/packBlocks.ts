import type { BlockHeader, BlockRows, StoredBlocks } from './encodeBlock.ts'

/** Consecutive blocks as a few large buffers, which can be transferred to another thread (`buffersOf` lists them). */
export interface PackedBlocks extends StoredBlocks<ArrayBuffer> {
  readonly headers: readonly BlockHeader[]
}

/** Lists the buffers for a transfer to another thread; afterwards they are empty here. */
export function buffersOf({
  ids,
  records,
  recordEnds,
  extras,
  extraEnds
}: PackedBlocks): readonly ArrayBuffer[] {
  return [ids, records, recordEnds, extras, extraEnds].map(({ buffer }) => buffer)
}

/** Joins consecutive blocks. */
export function packBlocks(blocks: readonly BlockRows[]): PackedBlocks {
  const ids = new Float64Array(blocks.reduce((sum, { transactionCount }) => sum + transactionCount, 0))
  const recordEnds = new Uint32Array(ids.length)
  const extraEnds = new Uint32Array(blocks.length)
  let row = 0
  let records = 0
  let extras = 0
  for (const [place, block] of blocks.entries()) {
    ids.set(block.ids, row)
    for (const end of block.recordEnds) recordEnds[row++] = records + end
    records += block.records.length
    extras += block.extras.length
    extraEnds[place] = extras
  }
  return {
    headers: blocks.map(
      ({ ref, parentHash, timestampSeconds, transactionCount, isTraced, hasVerifiedRoots, hasUnknown }) => ({
        ...{ ref, parentHash, timestampSeconds, transactionCount, isTraced, hasVerifiedRoots, hasUnknown }
      })
    ),
    ids,
    records: joinBytes(blocks.map(block => block.records)),
    recordEnds,
    extras: joinBytes(blocks.map(block => block.extras)),
    extraEnds
  }
}

/** Joins bytes in a buffer of their own. */
export function joinBytes(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const joined = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    joined.set(part, at)
    at += part.length
  }
  return joined
}
