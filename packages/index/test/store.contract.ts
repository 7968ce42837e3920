import { describe } from 'vitest'
import type { ChainIdentity } from '../src/port/status.ts'
import type { StoreReader } from '../src/port/store.ts'
import type { StoreWriter } from '../src/port/writer.ts'
import type { TransactionPosition } from '../src/record/transactionId.ts'
import type { Chunk, ChunkPosition } from '../src/runs/chunk.ts'
import type { Row, Value } from '../src/runs/Transaction.ts'
import type { LogLayout } from '../src/store/ChangeLog.ts'
import type { RunEngineLayout } from '../src/store/RunEngine.ts'
import { describeAudit } from './audit.contract.ts'
import { describeBlocks } from './blocks.contract.ts'
import { describeChanges } from './changes.contract.ts'
import { describeCoverage } from './coverage.contract.ts'
import { describeDamage } from './damage.contract.ts'
import { describeEvents } from './events.contract.ts'
import { describeHoldings } from './holdings.contract.ts'
import { describeLifetime } from './lifetime.contract.ts'
import { describePool } from './pool.contract.ts'
import { describePrepending } from './prepending.contract.ts'
import { describeReorgs } from './reorgs.contract.ts'
import { describeReplacing } from './replacing.contract.ts'
import { describeReport } from './report.contract.ts'

/** Sizes that an engine should make small, so that short chains reach every case. */
export interface StoreLayout extends RunEngineLayout, LogLayout {}

/** A row of the index, by what its key is made of. */
export type StoredRow =
  | { readonly table: 'tx'; readonly position: TransactionPosition }
  | { readonly table: 'block'; readonly number: number }

/** One engine's store of one chain, in a place of its own. */
export interface StoreUnderTest {
  /** As the engine opens it, without waiting for another writer. */
  openWriter(identity?: ChainIdentity): Promise<StoreWriter>
  openReader(): Promise<StoreReader>
  /** Ordered text of all that the stored blocks determine. */
  dump(): Promise<string>
  /**
   * Deletes one row by hand, past the writer.
   * @returns puts it back.
   * @throws {Error} there is no such row, or more than one.
   */
  loseRow(row: StoredRow): Promise<() => Promise<void>>
  /** Closes what is still open and removes everything. */
  dispose(): Promise<void>
}

/** A store whose rows and chunks can be damaged by hand, past the writer. */
export interface DamageableStore extends StoreUnderTest {
  /** Carries out a statement in which each value is a `?`. @returns its rows. */
  run(text: string, values?: readonly Value[]): Promise<readonly Row[]>
  /** Reads all chunks, ordered by run, section and number. */
  chunks(): Promise<readonly Chunk[]>
  loseChunk(position: ChunkPosition): Promise<void>
  /** Writes a chunk at its position, in place of the one that is there. */
  putChunk(chunk: Chunk): Promise<void>
}

/** Makes an empty store. */
export type OpenStore<S extends StoreUnderTest = StoreUnderTest> = (
  layout?: Partial<StoreLayout>
) => Promise<S>

/** Whose index the contract's stores hold. */
export const testIdentity: ChainIdentity = { chainId: 31_337, genesisHash: `0x${'6e'.repeat(32)}` }

/** Share of the runs of random stories: `npm test` runs a quarter of them, `npm run test:chaos` all. */
export const shareOfRuns = (engineShare = 1): number =>
  process.env.CHAOS === 'full' ? engineShare : engineShare / 4

/**
 * What every engine must do. Call it in a test file, once for each engine and driver.
 * @param open - gives each test a store of its own; the test disposes of it.
 * @param engineShare - share of the usual runs of random stories, for an engine whose empty store takes long to make.
 */
export function describeStore(name: string, open: OpenStore<DamageableStore>, engineShare = 1): void {
  const share = shareOfRuns(engineShare)
  describe(`store ${name}`, () => {
    describe('blocks and history', () => describeBlocks(open, share))
    describe('reorgs', () => describeReorgs(open, share))
    describe('replacing a block', () => describeReplacing(open))
    describe('older blocks', () => describePrepending(open, share))
    describe('coverage', () => describeCoverage(open))
    describe('account events', () => describeEvents(open, share))
    describe('audit', () => describeAudit(open))
    describe('damage', () => describeDamage(open, share))
    describe('pool', () => describePool(open, share))
    describe('log of changes', () => describeChanges(open, share))
    describe('holding candidates', () => describeHoldings(open, share))
    describe('report of the writer', () => describeReport(open))
    describe('lifetime', () => describeLifetime(open))
  })
}
