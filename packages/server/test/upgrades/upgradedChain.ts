import type { StoreWriter } from '../../src/index/port/writer.ts'
import { encodeBlock } from '../../src/index/record/encodeBlock.ts'
import { buildChain, hashOf, people, type TransactionPlan } from '../../src/index/test/buildChain.ts'
import type { Address } from '../../src/model/evm.ts'
import { silentLogger } from '../../src/platform/logger.ts'
import { createStatusBoard } from '../../src/server/indexer/status.ts'
import { upgradeIndex } from '../../src/server/indexer/upgradeIndex.ts'

export const identity = { chainId: 31_337, genesisHash: hashOf('genesis') }

const person = (n: number): Address => people[n % people.length] ?? '0x'

export const plans = Array.from({ length: 12 }, (_, number): readonly TransactionPlan[] =>
  Array.from({ length: number % 4 }, (_, i) => {
    const [from, to, contract] = [person(number + i), person(number + i + 3), person(number + i + 5)]
    const candidates = [{ owner: to, contract, standard: 'erc20' as const }]
    return { name: `tx ${number}/${i}`, parties: [from, to], candidates }
  })
)
export const blocks = buildChain(plans)
/** Blocks that an older version has stored. */
export const stored = blocks.slice(0, 8)

/** Writes the blocks of an older version anew as the server does in the background, until all have checksums. */
export async function rewriteOldBlocks(store: StoreWriter): Promise<void> {
  const done = new AbortController()
  const state = async () => {
    const found = await store.state()
    if (found.head === undefined || found.checkedFrom === 0) done.abort()
    return found
  }
  await upgradeIndex({
    store: {
      state,
      replaceBlock: (block, damage) => store.replaceBlock(block, damage),
      coversTraces: number => store.coversTraces(number)
    },
    fetchBlock: async number => encodeBlock(stored[number] ?? blocks[0]!),
    board: createStatusBoard({
      ...{ chainId: identity.chainId, phase: 'following', indexedFrom: 0 },
      ...{ backfilled: true, degraded: false, poolCovered: false }
    }),
    logger: silentLogger,
    signal: done.signal
  })
}
