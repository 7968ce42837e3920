import { setTimeout as sleep } from 'node:timers/promises'
import type { TransactionRecord } from '@chain-data/protocol'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { patient } from '../../../../../.config/patience.ts'
import { createRandom } from '../../../../devnet/src/platform/createRandom.ts'
import { isFull, report, seed } from '../../chaos/chaosSizes.ts'
import { engines } from '../../support/testStores.ts'
import { type DeepService, startDeepService } from '../startDeepService.ts'
import type { NodeTraits } from './answerCall.ts'
import { keyedKinds, otherKinds, type StateWorld } from './buildStateWorld.ts'
import { openStateWorld } from './openStateWorld.ts'
import { type LineTraits, type RecordedNode, startRecordedNode, stateMethods } from './startRecordedNode.ts'

type Traits = NodeTraits & LineTraits
const history = 'svc_getTransactionsByAddress'
/** A node of nothing but old states. */
const plain: Traits = { hasOts: false, traceFilter: false }
const high = 23_000_000
const probes = ['ots_searchTransactionsBefore', 'trace_filter', ...stateMethods]
const pageLimits = { calls: 1_100, turns: 20, withNonces: 150 }

let world: StateWorld
let full: DeepService
const ends: (() => Promise<unknown>)[] = []
beforeAll(async () => {
  world = await openStateWorld(isFull ? 20_000 : 2_000)
  full = (await serve({}, { startBlock: 0, deepHistory: 'off' })).service
}, patient(900_000))
afterAll(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

interface Served {
  readonly service: DeepService
  readonly node: RecordedNode
  /** Calls by which it was found out what the node offers. */
  readonly probed: number
}

async function serve(traits: Traits, chain = {}, options = {}): Promise<Served> {
  const node = await startRecordedNode(world.chain, traits)
  ends.push(node.close)
  const store = await engines[0].create()
  ends.push(store.remove)
  const service = await startDeepService({
    ...{ nodeUrl: node.url, store: store.url, ...options },
    chain: { verify: 'basic', startBlock: 'latest', deepHistory: 'node', ...chain }
  })
  ends.push(service.close)
  const probed = node.calls.filter(method => probes.includes(method)).length
  node.reset()
  return { service, node, probed }
}

const personOf = (kind: string) => world.people[kind] ?? ''
/** Records without what the stretch changes. */
const unplaced = (records: readonly TransactionRecord[]) =>
  records.map(({ hash, ...record }) => JSON.stringify({ hash, ...record, blockNumber: undefined }))
const stateCalls = (node: RecordedNode) => node.calls.filter(method => stateMethods.includes(method)).length

/** The transactions that are missing in an answer, without those that state is said not to find. */
async function missed(kind: string, found: readonly TransactionRecord[]): Promise<readonly string[]> {
  const account = personOf(kind)
  const whole = await full.history(account)
  const hashes = new Set(found.map(({ hash }) => hash))
  const isUnseen = ({ from, value }: TransactionRecord) =>
    from.toLowerCase() !== account && BigInt(value) === 0n
  const expected = whole.filter(record => hashes.has(record.hash))
  expect(unplaced(found)).toEqual(unplaced(expected))
  return whole.filter(record => !hashes.has(record.hash) && !isUnseen(record)).map(({ hash }) => hash)
}

/** Asks until the history is read. */
async function patiently(service: DeepService, account: string, page?: object, isLimited = false) {
  const percents: number[] = []
  let refusals = 0
  for (;;) {
    const { result, error } = await service.ask<TransactionRecord[]>(
      history,
      page ? [account, page] : [account]
    )
    if (result !== undefined) return { result, percents }
    const reason = String(error?.data.reason)
    // A node that refuses most calls may be rested for a moment.
    if (isLimited && reason === 'UPSTREAM_UNAVAILABLE') await sleep(1_000)
    else {
      expect(reason, JSON.stringify(error)).toBe('STILL_READING')
      percents.push(Number(Object(error?.data.progress).percent))
    }
    expect(++refusals).toBeLessThan(200)
  }
}

describe(`history from old states (SEED=${seed})`, () => {
  it.each([
    ['as many blocks as were recorded', undefined],
    ['23 million blocks', high]
  ])(
    'misses nothing of accounts with a key, and calls no other complete, at %s',
    async (_, head) => {
      const { service, node } = await serve({ ...plain, ...(head && { head }) })
      for (const kind of keyedKinds) {
        node.reset()
        const { result } = await patiently(service, personOf(kind))
        const { coverage } = await service.ask(history, [personOf(kind)])
        expect([kind, await missed(kind, result)]).toEqual([kind, []])
        expect(coverage).toMatch(/;deep=state;lacks=zero-value-receipts$/)
        const perTransaction = stateCalls(node) / result.length
        if (isFull && head && kind === 'busy') expect(perTransaction).toBeLessThanOrEqual(15)
        if (isFull && head && kind === 'quiet') expect(perTransaction).toBeLessThanOrEqual(20)
        report('deepHistory/recorded', {
          ...{ head: head ?? world.chain.head, kind, transactions: result.length, missed: 0 },
          ...{ stateCalls: stateCalls(node), perTransaction: perTransaction.toFixed(1) }
        })
      }
      for (const kind of otherKinds) {
        const { result, coverage, error } = await service.ask<TransactionRecord[]>(history, [personOf(kind)])
        const isCalledComplete = result !== undefined && !/;reason=/.test(coverage ?? '')
        expect([kind, isCalledComplete]).toEqual([kind, false])
        if (kind === 'receiverOnly') {
          expect(await missed(kind, result ?? [])).toEqual([])
          expect(coverage).toMatch(/;deep=state;lacks=zero-value-receipts;reason=no-key$/)
        }
        report('deepHistory/recorded', { kind, answer: error ? String(error.data.reason) : String(coverage) })
      }
    },
    patient(300_000)
  )

  it('reads a page of 25 at 23 million blocks with few calls and turns', async () => {
    for (const hasSenderAndNonce of [false, true]) {
      for (const kind of ['busy', 'quiet'] as const) {
        // Without any latency one request of an exchange may be answered before the next one is sent.
        const { service, node } = await serve({ ...plain, head: high, hasSenderAndNonce, latencyMs: 20 })
        await service.history(personOf(kind), { limit: 25 })
        const [calls, turns] = [stateCalls(node), node.turns()]
        const byNonce = node.calls.filter(method => method.endsWith('BySenderAndNonce')).length
        report('deepHistory/recorded', {
          page: kind,
          hasSenderAndNonce: String(hasSenderAndNonce),
          calls,
          byNonce,
          turns
        })
        if (kind === 'quiet' && hasSenderAndNonce) continue
        expect(calls + byNonce).toBeLessThanOrEqual(
          hasSenderAndNonce ? pageLimits.withNonces : pageLimits.calls
        )
        expect(turns).toBeLessThanOrEqual(pageLimits.turns)
      }
    }
  })

  it('does so in seconds where each answer takes 150 ms', async () => {
    const read = async ([maxBatch, limitMs]: readonly [number, number]) => {
      const { service } = await serve({ ...plain, head: high, latencyMs: 150, maxBatch })
      const beganMs = performance.now()
      const { percents } = await patiently(service, personOf('busy'), { limit: 25 })
      const ms = Math.round(performance.now() - beganMs)
      report('deepHistory/recorded', {
        latencyMs: 150,
        maxBatch,
        ms,
        limitMs: patient(limitMs),
        waits: percents.length
      })
      if (isFull) expect(ms).toBeLessThanOrEqual(patient(limitMs))
    }
    const cases = [
      [100, 3_500],
      [20, 4_000],
      [1, 7_000]
    ] as const
    // Where it is measured, alone.
    if (isFull) for (const each of cases) await read(each)
    else await Promise.all(cases.map(read))
  })

  it(
    'notices answers from another height',
    async () => {
      const random = createRandom(seed)
      const kinds = ['quiet', 'selfTransferring', 'inAndOut', 'zeroValue'] as const
      const counts = { runs: 0, whole: 0, refused: 0, unnoticed: 0, stale: 0 }
      const isStale = () => random.below(1_000) < (isFull ? 1 : 10)
      const head = world.chain.head
      const staleHeight = (height: number) => {
        if (!isStale()) return height
        counts.stale++
        return random.below(head)
      }
      const { service } = await serve({ ...plain, staleHeight }, {}, { history: { deepCacheBytes: 1 } })
      while (counts.runs < (isFull ? 400 : 12)) {
        const kind = random.pick(kinds)
        const { result } = await service.ask<TransactionRecord[]>(history, [personOf(kind)])
        counts.runs++
        if (result === undefined) counts.refused++
        else if ((await missed(kind, result)).length > 0) counts.unnoticed++
        else counts.whole++
      }
      report('deepHistory/recorded', counts)
      expect(counts.unnoticed).toBeLessThanOrEqual(1)
    },
    patient(600_000)
  )

  it('says none of a full node without old states, after three calls', async () => {
    const { service, node, probed } = await serve({ ...plain, keptStates: 32 })
    const { coverage } = await service.ask(history, [personOf('quiet')])
    expect(coverage).toMatch(/;deep=none$/)
    expect((await service.ask('svc_getSyncStatus', [])).result).toMatchObject({ deepHistory: 'none' })
    const calls = probed + node.calls.filter(method => probes.includes(method)).length
    report('deepHistory/recorded', { node: 'without old states', calls })
    expect(calls).toBeLessThanOrEqual(3)
  })

  it('takes state where trace_filter takes 100 blocks at once', async () => {
    const { service } = await serve({ hasOts: false, traceFilter: 100, head: high })
    const beganMs = performance.now()
    const { result } = await patiently(service, personOf('quiet'), { limit: 25 })
    const ms = Math.round(performance.now() - beganMs)
    const { coverage } = await service.ask(history, [personOf('quiet')])
    report('deepHistory/recorded', { node: 'trace_filter of 100 blocks', ms, records: result.length })
    expect(coverage).toContain('deep=state')
    if (isFull) expect(ms).toBeLessThanOrEqual(patient(5_000))
  })

  it.runIf(isFull)(
    'keeps its progress over calls where a provider allows 16 calls a second',
    async () => {
      const limits = { requestDeadlineMs: 25_000 }
      const { service, node } = await serve({ ...plain, head: high }, {}, { limits })
      node.setTraits({ ...plain, head: high, callsPerSecond: 16 })
      const beganMs = performance.now()
      const { result, percents } = await patiently(service, personOf('quiet'), { limit: 25 }, true)
      const seconds = Math.round((performance.now() - beganMs) / 1_000)
      report('deepHistory/recorded', {
        callsPerSecond: 16,
        seconds,
        percents: percents.join(' '),
        records: result.length
      })
      expect([...percents].sort((a, b) => a - b)).toEqual(percents)
    },
    patient(400_000)
  )

  it('gives up an account that every block pays by a withdrawal, with a reason', async () => {
    const account = personOf('quiet')
    const from = Math.max(1, world.chain.head - 64 - 10_000)
    const { service, node } = await serve({ ...plain, withdrawals: { address: account, from } })
    const { error } = await service.ask(history, [account])
    report('deepHistory/recorded', {
      withdrawals: 10_000,
      calls: node.calls.length,
      reason: String(error?.data.reason)
    })
    expect(error?.data).toMatchObject({ reason: 'HISTORY_UNPROVABLE' })
    if (isFull) expect(node.calls.length).toBeLessThanOrEqual(1_000)
  })
})
