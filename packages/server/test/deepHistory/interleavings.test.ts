import { describe, expect, it } from 'vitest'
import { createRandom, type Random } from '../../../devnet/src/platform/createRandom.ts'
import { createOldState } from '../../src/features/olderHistory/below/state/createOldState.ts'
import { StateSearch } from '../../src/features/olderHistory/below/state/StateSearch.ts'
import {
  account,
  type Deed,
  scriptAccount,
  scriptRpc
} from '../../src/features/olderHistory/below/test/scriptAccount.ts'
import { createBatchSize } from '../../src/nodes/upstreams/limits.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { NodeContradictionError, NodeUnavailableError } from '../../src/platform/errors.ts'
import { isFull } from '../chaos/chaosSizes.ts'
import { createScheduler } from './createScheduler.ts'

const firstSeed = Number(process.env.INTERLEAVING_SEED ?? 1_001)
const runs = Number(process.env.INTERLEAVING_RUNS ?? (isFull ? 20_000 : 500))
/** Calls in a row without a lower block: each leaves the next one less to read. */
const maxFruitless = 100
/** Searches of one past that end because its node contradicts itself. */
const maxContradictions = 100

const kinds = ['sends', 'receives', 'fails', 'internal', 'authorizes', 'withdraws'] as const

function randomPast(random: Random, blocks: number): readonly Deed[] {
  const deeds: Deed[] = Array.from({ length: random.below(40) }, () => ({
    height: 1 + random.below(blocks - 1),
    kind: random.pick(kinds),
    value: BigInt(1 + random.below(9))
  }))
  const isOdd = random.below(8) === 0
  return isOdd ? [...deeds, { height: 1 + random.below(blocks - 1), kind: 'loses', value: 1_000n }] : deeds
}

/** The faults of a node, as shares of its answers. */
function randomFaults(random: Random) {
  const isStale = random.below(6) === 0
  return { stale: isStale ? random.pick([0.001, 0.01]) : 0, silent: random.below(4) === 0 ? 0.03 : 0 }
}

/** Reads a past page by page, where only chance decides in which order exchanges and blocks end. */
async function readPast(seed: number) {
  const random = createRandom(seed)
  const share = () => random.below(2 ** 30) / 2 ** 30
  const blocks = 2 + random.below(random.pick([30, 300, 100_000]))
  const script = scriptAccount(randomPast(random, blocks), { isTraced: random.below(2) === 0 })
  const { stale, silent } = randomFaults(random)
  const rpc = scriptRpc(stale > 0 ? script.stale(stale, share, blocks) : script.answer)
  const { run } = createScheduler(random)
  const ask = <T>(work: () => T | Promise<T>) =>
    run(() => {
      if (share() < silent) throw new NodeUnavailableError('the node did not answer')
      return work()
    })
  const batch: typeof rpc.batch = calls => ask(() => rpc.batch(calls))
  const size = createBatchSize(1 + random.below(40), systemClock)
  const nonceMethod = random.below(4) === 0 ? 'eth_getTransactionBySenderAndNonce' : undefined
  const state = createOldState({ batch } as Parameters<typeof createOldState>[0], account, {
    ...{ size, nonceMethod, maxCalls: () => Number.POSITIVE_INFINITY }
  })
  const block = (number: number) => ask(() => script.block(number))
  const hasKey = random.below(3) === 0
  const wanted = random.below(4) === 0 ? Number.POSITIVE_INFINITY : 1 + random.below(64)
  const begin = (below: number, isKnown: boolean) =>
    new StateSearch({ state, block, hasKey: isKnown }, { address: account, below })

  let search = begin(blocks, hasKey)
  const found: number[] = []
  let [fruitless, contradictions] = [0, 0]
  while (search.from > 0 && search.end === undefined && search.problem === undefined) {
    const { from } = search
    try {
      await search.advance(new AbortController().signal, wanted)
      found.push(...search.take(search.from).map(({ number }) => number))
    } catch (error) {
      if (error instanceof NodeContradictionError) {
        if (++contradictions > maxContradictions) throw error
        // What was taken by then is kept.
        search = begin(from, hasKey || found.length > 0)
      } else if (!(error instanceof NodeUnavailableError)) throw error
    }
    fruitless = search.from < from ? 0 : fruitless + 1
    if (fruitless > maxFruitless) throw new Error(`the search does not get below block ${from}`)
    // The caller takes its time: blocks are read meanwhile.
    if (random.below(2) === 0) await run(() => undefined)
  }
  const { from } = search
  return { found, expected: script.expected().filter(height => height >= from), stale, contradictions }
}

describe(`a search from state whose answers come in any order (INTERLEAVING_SEED=${firstSeed})`, () => {
  it(`never stalls, and the next call goes on, in ${runs} pasts`, { timeout: 3_600_000 }, async () => {
    let [contradictions, wrong] = [0, 0]
    for (let seed = firstSeed; seed < firstSeed + runs; seed++) {
      const past = await readPast(seed).catch((cause: unknown) => {
        throw new Error(`INTERLEAVING_SEED=${seed} INTERLEAVING_RUNS=1`, { cause })
      })
      contradictions += past.contradictions
      // Answers of another height may agree with each other.
      if (past.stale > 0) wrong += JSON.stringify(past.found) === JSON.stringify(past.expected) ? 0 : 1
      else expect(past.found, `INTERLEAVING_SEED=${seed} INTERLEAVING_RUNS=1`).toEqual(past.expected)
    }
    expect(wrong, `${contradictions} contradictions of nodes`).toBeLessThanOrEqual(Math.ceil(runs / 1_000))
  })
})
