import { encodeBlock } from '@chain-data/index/record'
import { createRootChecks, type RootChecks } from '../../src/evm/blocks/roots/createRootChecks.ts'
import { verifyHeader, verifyReceipts } from '../../src/evm/blocks/verify.ts'
import { rootParts } from '../../src/model/rootParts.ts'
import { normalizeAlone } from './normalizeAlone.ts'
import type { Raw } from './rawBlock.ts'

/** A block as a node shows it, with its receipts. */
export interface WholeBlock {
  readonly block: Raw & { readonly transactions: readonly Raw[] }
  readonly receipts: readonly Raw[]
}

/** Asks a node for a block; receipts one by one, which every node offers. */
export async function readWhole(
  rpc: (method: string, ...params: unknown[]) => Promise<unknown>,
  tag: string
): Promise<WholeBlock> {
  const block = (await rpc('eth_getBlockByNumber', tag, true)) as WholeBlock['block']
  const receipts: Raw[] = []
  for (const { hash } of block.transactions) {
    receipts.push((await rpc('eth_getTransactionReceipt', hash)) as Raw)
  }
  return { block, receipts }
}

/** Checks of all parts. */
export const allChecks = () => createRootChecks({ parts: rootParts })

/** The rows of a block as text. @throws {NodeContradictionError} the block does not agree with itself or with its header. */
export function verifyWhole({ block, receipts }: WholeBlock, checks: RootChecks): string {
  const header = verifyHeader(block, Number(block.number))
  checks.header(header)
  const verified = verifyReceipts(header, receipts)
  checks.receipts(verified)
  return JSON.stringify(encodeBlock(normalizeAlone(verified).block), (_, value: unknown) =>
    ArrayBuffer.isView(value)
      ? Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('hex')
      : typeof value === 'bigint'
        ? String(value)
        : value
  )
}
