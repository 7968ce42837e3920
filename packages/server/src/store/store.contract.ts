import { describe } from 'vitest'
import type { ChainIdentity, StoreReader, StoreWriter } from './store.ts'
import { describeBlocks } from './test/blocks.contract.ts'
import { describeHoldings } from './test/holdings.contract.ts'
import { describeLifetime } from './test/lifetime.contract.ts'
import { describePool } from './test/pool.contract.ts'
import { describeReorgs } from './test/reorgs.contract.ts'
import { describeReport } from './test/report.contract.ts'

/** Sizes that an engine should make small, so that short chains reach every case. */
export interface StoreLayout {
  readonly epochTransactions: number
  readonly minUndoBlocks: number
  readonly maxUndoBlocks: number
}

/** One engine's store of one chain, in a place of its own. */
export interface StoreUnderTest {
  /** As the engine opens it, without waiting for another writer. */
  openWriter(identity?: ChainIdentity): Promise<StoreWriter>
  openReader(): Promise<StoreReader>
  /** Ordered text of all that the stored blocks determine; candidates left out, since they outlive their blocks. */
  dump(): Promise<string>
  /** Closes what is still open and removes everything. */
  dispose(): Promise<void>
}

/** Makes an empty store. */
export type OpenStore = (layout?: Partial<StoreLayout>) => Promise<StoreUnderTest>

/** Whose index the contract's stores hold. */
export const testIdentity: ChainIdentity = { chainId: 31_337, genesisHash: `0x${'6e'.repeat(32)}` }

/**
 * What every engine must do. Call it in a test file, once for each engine and driver.
 * @param open - gives each test a store of its own; the test disposes of it.
 */
export function describeStore(name: string, open: OpenStore): void {
  describe(`store ${name}`, () => {
    describe('blocks and history', () => describeBlocks(open))
    describe('reorgs', () => describeReorgs(open))
    describe('pool', () => describePool(open))
    describe('holding candidates', () => describeHoldings(open))
    describe('report of the writer', () => describeReport(open))
    describe('lifetime', () => describeLifetime(open))
  })
}
