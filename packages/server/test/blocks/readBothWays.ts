import { createHeaderScan } from '../../src/evm/blocks/fastBlocks/scanHeader.ts'
import { createReceiptsScan, type ScannedBlock } from '../../src/evm/blocks/fastBlocks/scanReceipts.ts'
import { normalizeBlock } from '../../src/evm/blocks/normalize.ts'
import { verifyHeader, verifyReceipts } from '../../src/evm/blocks/verify.ts'
import { encodeBlock } from '../../src/index/record/encodeBlock.ts'

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

/** What the ordinary path makes of them, comparable; `undefined` when it refuses them. */
export function readOrdinarily({ number, block, receipts }: BlockBytes): string | undefined {
  try {
    const [rawBlock, rawReceipts] = [block, receipts].map(
      bytes => JSON.parse(Buffer.from(bytes).toString('utf8')) as unknown
    )
    const read = normalizeBlock(verifyReceipts(verifyHeader(rawBlock, number), rawReceipts))
    return comparable({ rows: encodeBlock(read.block), ignoredLogs: read.ignoredLogs })
  } catch {
    return undefined
  }
}

/** The same by the fast path; `undefined` when it declines. */
export function createFastReading(): (bytes: BlockBytes) => string | undefined {
  const scanHeader = createHeaderScan()
  const scanReceipts = createReceiptsScan()
  return ({ number, block, receipts }) => {
    const header = scanHeader(block, number)
    const scanned = header === undefined ? undefined : scanReceipts(header, receipts)
    return scanned === undefined ? undefined : comparable(scanned)
  }
}

/** As text, in one order of the members. */
function comparable({ rows, ignoredLogs }: ScannedBlock): string {
  const values = Object.entries({ ...rows, ignoredLogs }).map(([name, value]) => [
    name,
    ArrayBuffer.isView(value)
      ? Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('hex')
      : value
  ])
  return JSON.stringify(values.sort(), undefined, 1)
}
