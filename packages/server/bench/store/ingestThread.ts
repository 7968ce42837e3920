/** Writes the synthetic chain into a store, as a thread of its own, and tells how quick that was. */
import { parentPort, workerData } from 'node:worker_threads'
import { type ChainIdentity, openStoreWriter, type StoreLocation, type StoreWriter } from '@chain-data/index'
import { type BlockRows, packBlocks } from '@chain-data/index/record'
import { blockHash, chainFigures, createSyntheticChain } from './syntheticChain.ts'

export interface IngestTask {
  readonly location: StoreLocation
  readonly transactions: number
  /** Told about after so many. */
  readonly interval: number
  readonly transactionsPerCommit: number
  /** Blocks that are removed again at the end, and how often. */
  readonly reorgBlocks: number
  readonly reorgRounds: number
}

export type IngestMessage =
  /** `busyMs`: time spent in the store since the last one, the making of the chain left out. */
  | {
      readonly kind: 'interval'
      readonly transactions: number
      readonly accounts: number
      readonly busyMs: number
    }
  | { readonly kind: 'done'; readonly reorgMs: readonly number[] }

export const storeIdentity: ChainIdentity = { chainId: 1, genesisHash: blockHash(0) }
/** As on a chain that is final two epochs behind its head. */
const finalDepth = 64

if (parentPort !== null) {
  const port = parentPort
  await ingest(workerData as IngestTask, message => port.postMessage(message))
}

async function ingest(task: IngestTask, tell: (message: IngestMessage) => void): Promise<void> {
  const chain = createSyntheticChain()
  const writer = await openStoreWriter(task.location, storeIdentity)
  const blocksPerCommit = Math.ceil(task.transactionsPerCommit / chainFigures.transactionsPerBlock)
  let stored = 0
  let busyMs = 0
  let told = 0
  while (stored < task.transactions) {
    const blocks = Array.from({ length: blocksPerCommit }, () => chain.block())
    const packed = packBlocks(blocks)
    const startedMs = performance.now()
    await writer.commitBlocks(packed, { finalized: lastNumber(blocks) })
    busyMs += performance.now() - startedMs
    stored += packed.ids.length
    if (stored - told < task.interval && stored < task.transactions) continue
    tell({ kind: 'interval', transactions: stored, accounts: chain.accounts(), busyMs })
    told = stored
    busyMs = 0
  }
  const reorgMs = await measureReorgs(writer, task, () => chain.block())
  await writer.close()
  tell({ kind: 'done', reorgMs })
}

/** Removes the same blocks again and again; between, they are stored as blocks at the head are, one by one. */
async function measureReorgs(
  writer: StoreWriter,
  { reorgBlocks, reorgRounds }: IngestTask,
  makeBlock: () => BlockRows
): Promise<readonly number[]> {
  const blocks = Array.from({ length: reorgBlocks }, makeBlock)
  const times: number[] = []
  for (let round = 0; round < reorgRounds; round++) {
    const { head } = await writer.state()
    if (head === undefined) throw new Error('nothing is stored')
    for (const block of blocks) {
      await writer.commitBlocks(packBlocks([block]), {
        finalized: Math.max(0, block.ref.number - finalDepth)
      })
    }
    const startedMs = performance.now()
    await writer.rollbackTo(head)
    times.push(performance.now() - startedMs)
  }
  return times
}

function lastNumber(blocks: readonly BlockRows[]): number {
  return blocks.at(-1)?.ref.number ?? 0
}
