import type { StoreWriter } from '@chain-data/index'
import { buildChain, commitChain, people, poolTransaction } from '@chain-data/index/test'

export type LeaderDeed = 'commit' | 'rollback' | 'pool update' | 'report'

/** What every index of these tests begins with: ten blocks with two transactions each. */
export const firstBlocks = buildChain(
  Array.from({ length: 10 }, (_, block) =>
    [0, 1].map(place => ({ name: `${block}/${place}`, parties: people.slice(place, place + 3) }))
  )
)

/** Two blocks that come after them, others for each name. */
export function nextBlocks(fork: string): ReturnType<typeof buildChain> {
  const parent = firstBlocks[9]?.ref
  const plans = [0, 1].map(block => [{ name: `${fork} ${block}`, parties: people.slice(block, block + 2) }])
  return buildChain(plans, { fork, ...(parent === undefined ? {} : { parent }) })
}

/** All that a leader does, over the first blocks. Each leaves something to be seen. */
export const leaderDeeds: Readonly<Record<LeaderDeed, (writer: StoreWriter) => Promise<void>>> = {
  commit: writer => commitChain(writer, nextBlocks('old leader')),
  rollback: writer => writer.rollbackTo(firstBlocks[4]?.ref ?? { number: -1, hash: '0x' }),
  'pool update': writer =>
    writer.updatePool({
      present: [poolTransaction('of the old leader', people.slice(0, 2))],
      seenAtSeconds: 1_700_000_000,
      headAfter: 9
    }),
  report: writer => writer.report({ phase: 'stalled', poolCovered: false, problem: 'of the old leader' })
}
