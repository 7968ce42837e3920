import type { Damage } from '../platform/errors.ts'
import type { ChainIdentity } from '../port/status.ts'
import type { StoreWriter } from '../port/writer.ts'
import { defaultRunLayout } from '../runs/RunWriter.ts'
import type { ReadTransaction, WritableStore } from '../runs/Transaction.ts'
import { defaultLogLayout } from './ChangeLog.ts'
import { IndexWriter, type WriterLayout } from './IndexWriter.ts'
import { checkMeta, readMeta, writeIdentity } from './meta.ts'
import { RunEngine, type RunEngineLayout } from './RunEngine.ts'
import { checkIdentity, type MetaRow } from './rows.ts'

/** How a writer lays out what it stores; readers find it there. */
interface Layout extends RunEngineLayout, WriterLayout {}

/** All optional; the defaults are what a server wants. */
export interface WriterOptions extends Partial<Layout> {
  /** How long to wait for another writer of the same chain to end. Default 2000. */
  readonly lockWaitMs?: number
  /** Ends that waiting; the reason is thrown. */
  readonly signal?: AbortSignal
  /** An index of another genesis block is kept aside; absent: it is refused. */
  readonly keepsOtherAside?: boolean
  /** The index was there before: a missing one is not made anew. */
  readonly mustExist?: boolean
}

export const defaultLockWaitMs = 2_000

/** An index whose writer's lock is held. */
interface LockedIndex {
  readonly store: WritableStore
  readonly identity: ChainIdentity
  /** Where it would be kept aside, for the message. */
  readonly aside: string
  /** Takes the damage that readers have reported. */
  takeDamage(): readonly Damage[]
  readonly layout: Partial<Layout> & Pick<Layout, 'maxRuns'>
}

/**
 * Opens the writer of an index. One whose tables are empty becomes that of the chain.
 * @throws {StoreError} it holds another chain.
 */
export async function openIndex({
  store,
  identity,
  aside,
  takeDamage,
  layout
}: LockedIndex): Promise<StoreWriter> {
  const stored = await store.write(async transaction => {
    const rows = await transaction.all('SELECT id FROM meta UNION ALL SELECT number FROM block LIMIT 1')
    if (rows.length === 0) await writeIdentity(transaction, identity)
    return readMeta(transaction)
  })
  checkIdentity(stored.identity, identity, aside)
  const whole = {
    ...{ ...defaultRunLayout, ...defaultLogLayout, mergeAfterMs: 250, keepFirstSeenBlocks: 256 },
    ...layout
  }
  return new IndexWriter(new RunEngine(store, identity.chainId, takeDamage, whole), whole)
}

/** Checks whether an index holds the chain of the same number from another genesis block. */
export async function isOfOtherGenesis(
  reads: ReadTransaction,
  { chainId, genesisHash }: ChainIdentity
): Promise<boolean> {
  const [row] = await reads.all<MetaRow>('SELECT * FROM meta')
  if (row === undefined) return false
  const { identity } = checkMeta(row)
  return identity.chainId === chainId && identity.genesisHash !== genesisHash
}
