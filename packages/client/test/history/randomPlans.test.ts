import fc from 'fast-check'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { isConfirmed, type TransactionRecord } from '../../src/fetch.ts'
import { createLiveHistory, createStreaming, type HistorySnapshot } from '../../src/history/index.ts'
import {
  type ChainStep,
  createModelChain,
  createModelClient,
  type Fate,
  type ModelChain,
  rpcError,
  takeStep
} from './support/createModelChain.ts'
import { createModelStreams } from './support/createModelStreams.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const chainStep: fc.Arbitrary<ChainStep> = fc.oneof(
  fc.record({ kind: fc.constant('send' as const), count: fc.nat(4) }),
  fc.record({ kind: fc.constant('mine' as const), count: fc.nat(35) }),
  fc.record({ kind: fc.constantFrom('drop' as const, 'replace' as const, 'return' as const) }),
  fc.record({
    kind: fc.constant('reorg' as const),
    depth: fc.integer({ min: 1, max: 4 }),
    fates: fc.array(fc.constantFrom<Fate>('pool', 'gone', 'mined again'), { minLength: 1, maxLength: 5 })
  })
)
/** What happens before one answer of the service. */
const meanwhile = fc.oneof({ weight: 6, arbitrary: chainStep }, fc.constant('fail' as const))
const readerStep = fc.constantFrom('poll' as const, 'older' as const, 'both' as const)
const plans = fc.record({
  pageSize: fc.integer({ min: 1, max: 25 }),
  /** Records of the blocks that are there before the list is. */
  blocks: fc.array(fc.nat(12), { maxLength: 12 }),
  /** Of the answers, in turn: one that was asked for first may arrive last. */
  latencies: fc.array(fc.nat(40), { minLength: 1, maxLength: 5 }),
  steps: fc.array(fc.tuple(readerStep, fc.array(meanwhile, { maxLength: 6 })), { maxLength: 20 })
})

test('at every step the list is the history at one head, never an older one than before, cut where it was loaded', async () => {
  const seed = Number(process.env.SEED ?? 1)
  await fc.assert(
    fc.asyncProperty(plans, async ({ pageSize, blocks, latencies, steps }) => {
      const chain = createModelChain()
      for (const count of blocks) chain.mine(count)
      const waiting: (typeof steps)[number][1] = []
      const act = () => {
        const step = waiting.shift()
        if (step === 'fail') throw rpcError('UPSTREAM_UNAVAILABLE', { retryable: true })
        if (step !== undefined) takeStep(chain, step)
      }
      let turn = 0
      const { client } = createModelClient(chain, act, () => latencies[turn++ % latencies.length] ?? 0)
      const history = createLiveHistory(client, { chainId: 1, address: '0xa', pageSize })
      const check = createVersionCheck(chain)
      // Collected, since what a listener throws is an error of the page.
      const problems: string[] = []
      let seen = history.getSnapshot()
      history.subscribe(() => {
        const next = history.getSnapshot()
        // An error does not empty the list.
        if (seen.records !== undefined && next.records === undefined)
          problems.push('the list is unknown again')
        seen = next
        problems.push(...check(next))
      })
      try {
        await settled(history.refresh())
        for (const [kind, chainSteps] of steps) {
          waiting.push(...chainSteps)
          // A reader scrolls while a poll is under way.
          const reads = [kind !== 'older' && history.refresh(), kind !== 'poll' && history.loadOlder()]
          await settled(Promise.all(reads))
          await vi.advanceTimersByTimeAsync(5_000)
          expect(problems).toEqual([])
        }
        for (const step of waiting.splice(0)) if (step !== 'fail') takeStep(chain, step)
        // The first may be a poll that was under way.
        for (let read = 0; read < 2; read++) await settled(history.refresh())
        for (let page = 0; history.getSnapshot().hasOlder && page < 500; page++) {
          await settled(history.loadOlder())
        }
        expect(history.getSnapshot().records).toEqual(chain.history())
        expect(history.getSnapshot().state).toBe('ready')
      } finally {
        history.close()
      }
      await vi.advanceTimersByTimeAsync(100)
      expect(vi.getTimerCount()).toBe(0)
    }),
    { seed, numRuns: Number(process.env.RUNS ?? 150) }
  )
})

const streamStep = fc.constantFrom('broken' as const, 'drained' as const, 'forgotten' as const)
const streamPlans = fc.record({
  pageSize: fc.integer({ min: 1, max: 25 }),
  blocks: fc.array(fc.nat(12), { maxLength: 8 }),
  latencies: fc.array(fc.nat(40), { minLength: 1, maxLength: 5 }),
  /** Between the events of one change, so that a list could be seen in the middle of it. */
  gaps: fc.array(fc.nat(8), { minLength: 1, maxLength: 4 }),
  isSeldomLevel: fc.boolean(),
  steps: fc.array(
    fc.tuple(
      // Between the calls of a reader, and within them.
      fc.array(fc.oneof({ weight: 4, arbitrary: chainStep }, streamStep), { maxLength: 5 }),
      fc.array(meanwhile, { maxLength: 3 }),
      fc.constantFrom('older' as const, 'newest' as const, undefined)
    ),
    { maxLength: 12 }
  )
})

test('a list that is fed by a stream is the newest history without being asked, whatever happens to the stream', async () => {
  const seed = Number(process.env.SEED ?? 1)
  await fc.assert(
    fc.asyncProperty(streamPlans, async ({ pageSize, blocks, latencies, gaps, isSeldomLevel, steps }) => {
      const chain = createModelChain()
      for (const count of blocks) chain.mine(count)
      const waiting: (typeof steps)[number][1] = []
      const act = () => {
        const step = waiting.shift()
        if (step === 'fail') throw rpcError('UPSTREAM_UNAVAILABLE', { retryable: true })
        if (step !== undefined) takeStep(chain, step)
      }
      let turn = 0
      const latencyMs = () => latencies[turn++ % latencies.length] ?? 0
      const { client, calls } = createModelClient(chain, act, latencyMs)
      const streams = createModelStreams(chain, latencyMs, {
        isSeldomLevel,
        gapMs: () => gaps[turn++ % gaps.length] ?? 0
      })
      const feed = createStreaming()
      const history = createLiveHistory(
        { ...client, ...streams },
        { chainId: 1, address: '0xa', pageSize, feed }
      )
      const check = createVersionCheck(chain)
      const problems: string[] = []
      history.subscribe(() => problems.push(...check(history.getSnapshot())))
      try {
        for (const [events, within, read] of steps) {
          waiting.push(...within)
          for (const event of events) {
            if (event === 'forgotten') streams.forget()
            else if (event === 'broken' || event === 'drained') streams.end(event)
            else takeStep(chain, event)
            await vi.advanceTimersByTimeAsync(15)
          }
          // Events arrive while it is under way.
          if (read) await settled(read === 'older' ? history.loadOlder() : history.refresh())
          // Longer than every pause; whoever is not told has to poll by then.
          await vi.advanceTimersByTimeAsync(90_000)
          for (const step of waiting.splice(0)) if (step !== 'fail') takeStep(chain, step)
          await vi.advanceTimersByTimeAsync(90_000)
          expect(problems).toEqual([])
          const { records = [], hasOlder, state, coverage } = history.getSnapshot()
          const now = chain.history()
          expect([state, coverage?.to]).toEqual(['ready', chain.head()])
          expect(signatureOf(records)).toBe(signatureOf(hasOlder ? now.slice(0, records.length) : now))
          expect([streams.isOpen(), history.getSnapshot().isStreamed]).toEqual([true, true])
          // While nothing happens, nothing is asked.
          const before = calls.length
          await vi.advanceTimersByTimeAsync(40_000)
          expect(calls.length).toBe(before)
        }
      } finally {
        history.close()
      }
      await vi.advanceTimersByTimeAsync(100)
      expect([vi.getTimerCount(), chain.listeners.size]).toEqual([0, 0])
    }),
    { seed, numRuns: Number(process.env.RUNS ?? 100) }
  )
})

/** Compares each snapshot with all histories that the chain had since the one before. */
function createVersionCheck(chain: ModelChain) {
  let last = 0
  return ({ records, hasOlder }: HistorySnapshot) => {
    if (records === undefined) return []
    const shown = signatureOf(records)
    const found = chain.versions.findIndex((version, at) => {
      if (at < last || (!hasOlder && version.length !== records.length)) return false
      return signatureOf(version.slice(0, records.length)) === shown
    })
    if (found < 0) return [`${shown} is no history of the chain since version ${last}`]
    last = found
    return []
  }
}

function signatureOf(records: readonly TransactionRecord[]): string {
  return records.map(each => `${each.hash}@${isConfirmed(each) ? each.blockNumber : ''}`).join(' ')
}

async function settled(work: Promise<unknown>): Promise<void> {
  let isDone = false
  const done = work.then(() => {
    isDone = true
  })
  for (let turn = 0; !isDone && turn < 10_000; turn++) await vi.advanceTimersByTimeAsync(10)
  if (!isDone) throw new Error('the call does not end')
  await done
}
