import { StoreError } from '@chain-data/index'
import {
  accountEventsIn,
  type BlockRows,
  deriveRows,
  encodeBlock,
  firstTransactionId
} from '@chain-data/index/record'
import { encodeAccountEvents } from '@chain-data/index/test'
import { noWaivers, type Waivers } from '../../src/evm/blocks/verification/contradiction.ts'
import { verifyHeader, verifyReceipts } from '../../src/evm/blocks/verify.ts'
import { NodeContradictionError } from '../../src/platform/errors.ts'
import { normalizeAlone } from './normalizeAlone.ts'

/** One block and its receipts, as the bytes of the two results. */
export interface BlockBytes {
  readonly number: number
  readonly block: Uint8Array
  readonly receipts: Uint8Array
}

/** As `JSON.stringify` writes it: compact, and without what is undefined. */
export function bytesOf(number: number, block: unknown, receipts: unknown): BlockBytes {
  return {
    number,
    block: Buffer.from(JSON.stringify(block)),
    receipts: Buffer.from(JSON.stringify(receipts))
  }
}

/** @throws whatever a block is refused with. */
export function rowsOf(bytes: BlockBytes, waivers: Waivers = noWaivers): BlockRows {
  return read(bytes, waivers).rows
}

/** Its rows as text, in one order of the members; `undefined` when it is refused, which no other error does. */
export function readBlock(bytes: BlockBytes, waivers: Waivers = noWaivers): string | undefined {
  try {
    const { rows, ignoredLogs } = read(bytes, waivers)
    const { hasUnknown, ...stored } = columnsOf(rows)
    const values = Object.entries({ ...stored, ignoredLogs, ...(hasUnknown && { hasUnknown }) }).map(
      ([name, value]) => [
        name,
        ArrayBuffer.isView(value)
          ? Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('hex')
          : value
      ]
    )
    return JSON.stringify(values.sort(), undefined, 1)
  } catch (error) {
    if ([SyntaxError, NodeContradictionError, StoreError].some(kind => error instanceof kind))
      return undefined
    throw error
  }
}

/** A block with all rows that follow from what is stored of it. */
function columnsOf(block: BlockRows) {
  const { ids, extras: extra, extraEnds: _, ...stored } = block
  const {
    firstBlock,
    lastBlock: _last,
    candidateEnds: _ends,
    eventBlocks: _blocks,
    ...rows
  } = deriveRows(block.ref.number, block)
  const { ids: _ids, partyAddresses: parties, partyIds, ...others } = rows
  const events = accountEventsIn(extra).map(each => encodeAccountEvents(each.events))
  const first = firstTransactionId(firstBlock)
  return {
    ...{ ...stored, ...others, extra, parties },
    indexes: Uint16Array.from(ids, id => id - first),
    partyEnds: Uint32Array.from(ids, id => partyIds.findLastIndex(each => each <= id) + 1),
    events: Buffer.concat(events),
    eventEnds: Uint32Array.from(events, (_each, row) => Buffer.concat(events.slice(0, row + 1)).length)
  }
}

function read({ number, block, receipts }: BlockBytes, waivers: Waivers) {
  const [rawBlock, rawReceipts] = [block, receipts].map(
    bytes => JSON.parse(Buffer.from(bytes).toString('utf8')) as unknown
  )
  const verified = verifyReceipts(verifyHeader(rawBlock, number, waivers), rawReceipts, waivers)
  const { block: normalized, ignoredLogs } = normalizeAlone(verified)
  return { rows: encodeBlock(normalized), ignoredLogs }
}
