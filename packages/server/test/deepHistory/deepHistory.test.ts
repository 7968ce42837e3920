import type { TransactionRecord } from '@chain-data/protocol'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { isFull } from '../chaos/chaosSizes.ts'
import { type Fault, type FaultProxy, Refusal, startFaultProxy } from '../support/startFaultProxy.ts'
import { engines, type TestStore } from '../support/testStores.ts'
import { type DeepService, startDeepService } from './startDeepService.ts'
import { type DeepWorld, finality, startDeepWorld } from './startDeepWorld.ts'

const seed = Number(process.env.DEEP_SEED ?? 61)
const traces = 'on'
const deepChain = { traces, finality, startBlock: 'latest', deepHistory: 'node' }
const include = ['transfers', 'internal', 'operations']

let world: DeepWorld
/** An index of the whole chain, which says what is right. */
let full: DeepService
const cleanUps: (() => Promise<unknown>)[] = []
const ends: (() => Promise<unknown>)[] = []

beforeAll(async () => {
  world = await startDeepWorld(seed)
  ends.push(world.close)
  const store = await engines[0].create()
  ends.push(store.remove)
  full = asked(
    await startDeepService({
      nodeUrl: world.anvil.rpcUrl,
      store: store.url,
      chain: { traces, finality }
    })
  )
  ends.push(full.close)
})
afterAll(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

/** What is right is asked for once: the chain stays as it is. */
function asked(whole: DeepService): DeepService {
  const told = new Map<string, Promise<readonly TransactionRecord[]>>()
  return {
    ...whole,
    history(address, page = {}) {
      const question = JSON.stringify([address, page])
      const answer = told.get(question) ?? whole.history(address, page)
      told.set(question, answer)
      return answer
    }
  }
}

async function openStore(engine = engines[0]): Promise<TestStore> {
  const store = await engine.create()
  cleanUps.push(store.remove)
  return store
}

async function startProxy(fault?: Fault): Promise<FaultProxy> {
  const proxy = await startFaultProxy(world.anvil.rpcUrl)
  cleanUps.push(proxy.close)
  proxy.setFault(fault)
  return proxy
}

async function startDeep(
  options: Partial<Parameters<typeof startDeepService>[0]> = {}
): Promise<DeepService> {
  const service = await startDeepService({
    nodeUrl: world.anvil.rpcUrl,
    store: options.store ?? (await openStore()).url,
    chain: deepChain,
    ...options
  })
  cleanUps.push(service.close)
  return service
}

async function byPages(service: DeepService, address: string, limit: number): Promise<TransactionRecord[]> {
  const all: TransactionRecord[] = []
  for (;;) {
    const before = all.at(-1)?.hash
    const page = await service.history(address, { limit, ...(before && { before }) })
    all.push(...page)
    if (page.length < limit) return all
  }
}

const isBelow = (service: DeepService) => (record: TransactionRecord) =>
  'blockNumber' in record && (record.blockNumber ?? 0) < service.indexedFrom()

const without =
  (...methods: string[]): Fault =>
  ({ method }, result) => {
    if (methods.includes(method)) throw new Refusal(-32601, 'the method does not exist')
    return result
  }

/** A full node: it lists no transactions of an address, and has forgotten the states of old blocks. */
const withoutOldState: Fault = (call, result) => {
  const isOld = /^eth_get(Balance|TransactionCount|Code)$/.test(call.method) && call.params[1] === '0x1'
  if (isOld) throw new Refusal(-32000, 'missing trie node 1f2e3d (path ) state 0x1f2e3d is not available')
  return without('ots_searchTransactionsBefore', 'trace_filter')(call, result)
}

const smallRanges: Fault = ({ method, params }, result) => {
  if (method !== 'eth_getLogs') return result
  const [{ fromBlock, toBlock }] = params as [{ fromBlock: string; toBlock: string }]
  if (Number(toBlock) - Number(fromBlock) >= 10) throw new Refusal(-32600, 'query exceeds max block range 10')
  if ((result as unknown[]).length > 5) throw new Refusal(-32005, 'query returned more than 5 results')
  return result
}

/** Every n-th address; all of them in the full run. */
const eachOf = (n: number) => world.addresses.filter((_, place) => isFull || place % n === 0)

/** What `deep` answers that differs from the whole index: the address, and what is missing. */
async function differences(deep: DeepService, page: object, right = full, addresses = world.addresses) {
  const wrong: { address: string; missing: readonly TransactionRecord[]; count: number }[] = []
  const sides = { below: 0, above: 0 }
  for (const address of addresses) {
    const [expected, actual] = [await right.history(address, page), await deep.history(address, page)]
    const below = expected.filter(isBelow(deep)).length
    sides.below += below
    sides.above += expected.length - below
    if (JSON.stringify(actual) === JSON.stringify(expected)) continue
    const hashes = actual.map(({ hash }) => hash)
    const missing = expected.filter(({ hash }) => !hashes.includes(hash))
    wrong.push({ address, missing, count: actual.length })
  }
  expect(sides.below).toBeGreaterThan(addresses.length)
  expect(sides.above).toBeGreaterThan(addresses.length)
  return wrong
}

describe(`an index that begins at the newest final block (DEEP_SEED=${seed})`, () => {
  it('answers like one of the whole chain for every address, by trace_filter', async () => {
    const proxy = await startProxy(without('ots_searchTransactionsBefore'))
    const deep = await startDeep({ nodeUrl: proxy.url })
    expect(deep.indexedFrom()).toBeGreaterThan(20)
    expect(full.indexedFrom()).toBe(0)
    expect(world.addresses.length).toBeGreaterThan(40)
    expect(await differences(deep, { include }), `seed ${seed}`).toEqual([])
  })

  it('does so where the node gives few logs, of few blocks at once', async () => {
    const proxy = await startProxy(smallRanges)
    const deep = await startDeep({ nodeUrl: proxy.url })
    expect(await differences(deep, { include }, full, eachOf(4)), `seed ${seed}`).toEqual([])
  })

  it('does so from state where pages leave out payments, but for receipts of no value, which it says', async () => {
    const proxy = await startProxy(without('trace_filter'))
    const deep = await startDeep({ nodeUrl: proxy.url })
    const wrong = await differences(deep, { include }, full, eachOf(2))
    const coverageOf = async (address: string) =>
      (await deep.ask('svc_getTransactionsByAddress', [address])).coverage ?? ''
    let marked = 0
    for (const { address, missing } of wrong) {
      const isMarked = (await coverageOf(address)).includes('deep=state;lacks=zero-value-receipts')
      if (isMarked) marked++
      // Of contracts, whose history state does not prove, pages tell.
      const isLeftOut = (record: TransactionRecord) =>
        isMarked
          ? record.value === '0x0' && record.from.toLowerCase() !== address
          : 'internal' in record &&
            record.internal?.some(({ kind, to }) => kind === 'selfdestruct' && to.toLowerCase() === address)
      expect(missing.every(isLeftOut), address).toBe(true)
    }
    expect(marked).toBeGreaterThan(0)
    expect(proxy.calls.some(({ method }) => method === 'ots_searchTransactionsBefore')).toBe(true)
  })

  it('does so without traces, by ots_searchTransactionsBefore', async () => {
    const chain = { ...deepChain, traces: 'off' }
    const whole = asked(await startDeep({ chain: { finality } }))
    const proxy = await startProxy()
    const deep = await startDeep({ nodeUrl: proxy.url, chain })
    expect(await differences(deep, { include }, whole, eachOf(2)), `seed ${seed}`).toEqual([])
    expect(proxy.calls.some(({ method }) => method === 'trace_filter')).toBe(false)
  })

  it('gives the same pages of any size, from any record on, with no gap or double at the seam', async () => {
    const deep = await startDeep()
    let seams = 0
    for (const [place, address] of eachOf(2).entries()) {
      const whole = await full.history(address)
      const sizes = place % 3 === 0 ? [1, 2, 7] : [7]
      for (const limit of sizes)
        expect(await byPages(deep, address, limit), `${address} by ${limit}`).toEqual(whole)
      const below = whole.filter(isBelow(deep)).length
      const seam = whole.length - below
      if (below === 0 || seam === 0) continue
      seams++
      for (let at = Math.max(0, seam - 3); at < Math.min(whole.length, seam + 3); at++) {
        const before = whole[at]?.hash
        expect(await deep.history(address, { before })).toEqual(whole.slice(at + 1))
        expect(await deep.history(address, { before, limit: 2 })).toEqual(whole.slice(at + 1, at + 3))
      }
    }
    expect(seams).toBeGreaterThan(5)
  })

  it('takes a cursor that only the node knows, and refuses one that nobody knows', async () => {
    const deep = await startDeep()
    const [busy = ''] = await busiest()
    const whole = await full.history(busy)
    const foreign = whole.filter(isBelow(deep)).at(2)?.hash
    const other = world.addresses.find(address => address !== busy) ?? ''
    expect(await deep.history(other, { before: foreign })).toEqual(
      await full.history(other, { before: foreign })
    )
    const { error } = await deep.ask('svc_getTransactionsByAddress', [
      busy,
      { before: `0x${'12'.repeat(32)}` }
    ])
    expect(error?.data).toMatchObject({ reason: 'INVALID_PARAMS' })
  })

  it('holds the same, on a node without an index of addresses too, whose histories then begin at the index', async () => {
    const proxy = await startProxy(withoutOldState)
    const [deep, plain] = [await startDeep(), await startDeep({ nodeUrl: proxy.url })]
    for (const address of eachOf(3)) {
      const expected = await full.holdings(address)
      expect(await deep.holdings(address), address).toEqual(expected)
      expect(await plain.holdings(address), address).toEqual(expected)
    }
    const [busy = ''] = await busiest()
    const whole = await full.history(busy)
    expect(await plain.history(busy)).toEqual(whole.filter(record => !isBelow(plain)(record)))
    const coverage = async (service: DeepService, method = 'svc_getTransactionsByAddress') =>
      (await service.ask(method, [busy])).coverage
    expect(await coverage(plain)).toContain('deep=none')
    expect(await coverage(plain, 'svc_getTokensAndNFTs')).toContain('deep=node')
    expect(await coverage(deep)).toMatch(new RegExp(`^31337;from=${deep.indexedFrom()};.*deep=node`))
    expect(await coverage(full)).not.toContain('deep')
    const status = async (service: DeepService) => (await service.ask('svc_getSyncStatus', [])).result
    expect(await status(plain)).toMatchObject({ deepHistory: 'none', indexedFrom: plain.indexedFrom() })
    expect(await status(deep)).toMatchObject({ deepHistory: 'trace_filter' })
  })

  it.each(engines)('asks no node again for what $name keeps, also after a restart', async engine => {
    const store = await openStore(engine)
    const proxy = await startProxy()
    const [busy = ''] = await busiest()
    const expected = await full.history(busy, { include })
    const first = await startDeepService({ nodeUrl: proxy.url, store: store.url, chain: deepChain })
    const [held] = [await full.holdings(busy)]
    expect(await first.history(busy, { include })).toEqual(expected)
    expect(await first.holdings(busy)).toEqual(held)
    await first.close()
    proxy.calls.length = 0
    const second = await startDeep({ nodeUrl: proxy.url, store: store.url })
    expect(second.indexedFrom()).toBe(first.indexedFrom())
    expect(await second.history(busy, { include })).toEqual(expected)
    expect(await second.history(busy, { limit: 2, before: expected.at(-3)?.hash })).toEqual(
      await full.history(busy, { limit: 2, before: expected.at(-3)?.hash })
    )
    expect(await second.holdings(busy)).toEqual(held)
    expect(countSearches(proxy)).toBe(0)
  })

  it('reads only as much as a page shows, and one reading serves all who ask at once', async () => {
    const proxy = await startProxy(smallRanges)
    const deep = await startDeep({ nodeUrl: proxy.url })
    const [busy = '', second = ''] = await busiest()
    await deep.history(busy, { limit: 1 })
    expect(countSearches(proxy)).toBe(0)
    const whole = await full.history(busy)
    const seam = whole.filter(record => !isBelow(deep)(record)).length
    expect(await deep.history(busy, { limit: seam + 1 })).toEqual(whole.slice(0, seam + 1))
    const afterOne = countSearches(proxy)
    expect(afterOne).toBeGreaterThan(0)
    expect(await deep.history(busy)).toEqual(whole)
    expect(countSearches(proxy)).toBeGreaterThan(afterOne + 4)
    proxy.calls.length = 0
    const answers = await Promise.all(Array.from({ length: 5 }, () => deep.history(second)))
    const alone = countSearches(proxy)
    for (const answer of answers) expect(answer).toEqual(await full.history(second))
    const lonely = await startDeep({ nodeUrl: proxy.url })
    proxy.calls.length = 0
    await lonely.history(second)
    // One that asks alone has to learn first how much the node takes at once.
    expect(alone).toBeLessThanOrEqual(countSearches(proxy))
  })

  it('says how far it is when the time is over, and goes on from there', async () => {
    const proxy = await startProxy(async (call, result) => {
      if (call.method === 'eth_getLogs') await new Promise(resolve => setTimeout(resolve, 120))
      return smallRanges(call, result)
    })
    const deep = await startDeep({ nodeUrl: proxy.url, limits: { requestDeadlineMs: 900 } })
    const [busy = ''] = await busiest()
    const expected = await full.history(busy)
    const refusals: string[] = []
    for (;;) {
      const { result, error } = await deep.ask('svc_getTransactionsByAddress', [busy])
      if (result !== undefined) {
        expect(result).toEqual(expected)
        break
      }
      expect(error?.data.reason).toMatch(/^(STILL_READING|UPSTREAM_UNAVAILABLE)$/)
      refusals.push(String(error?.data.extraMessage))
      expect(refusals.length).toBeLessThan(60)
    }
    const told = refusals.filter(text => /still being read, down to block \d+ so far \(\d+ %/.test(text))
    expect(told.length, refusals.join('\n')).toBeGreaterThan(0)
  })

  it.each<[string, Fault]>([
    [
      'names transactions in blocks that do not have them',
      ({ method }, result) =>
        method === 'trace_filter'
          ? (result as object[]).map(trace => ({ ...trace, transactionHash: `0x${'34'.repeat(32)}` }))
          : result
    ],
    [
      'answers about other blocks than it was asked about',
      ({ method }, result) =>
        method === 'eth_getLogs'
          ? (result as object[]).map(log => ({ ...log, blockNumber: '0xffff' }))
          : result
    ],
    ['answers no list', ({ method }, result) => (method === 'trace_filter' ? { traces: result } : result)],
    [
      'has another block where the index begins',
      ({ method, params: [height, isWhole] }, result) =>
        method === 'eth_getBlockByNumber' && isWhole === false && Number(height) > 0
          ? { ...(result as object), hash: `0x${'56'.repeat(32)}` }
          : result
    ]
  ])('believes no node that %s, and keeps nothing of it', async (_what, fault) => {
    const proxy = await startProxy()
    const deep = await startDeep({ nodeUrl: proxy.url })
    const [busy = ''] = await busiest()
    proxy.setFault(fault)
    const { error } = await deep.ask('svc_getTransactionsByAddress', [busy])
    expect(error?.data).toMatchObject({ reason: 'UPSTREAM_UNAVAILABLE' })
    proxy.setFault()
    expect(await deep.history(busy)).toEqual(await full.history(busy))
  })

  it('counts what lies below where unpaged answers are bounded', async () => {
    const [busy = ''] = await busiest()
    const { length } = await full.history(busy)
    const exact = await startDeep({ history: { maxUnpaged: length } })
    expect(await exact.history(busy)).toHaveLength(length)
    const less = await startDeep({ history: { maxUnpaged: length - 1 } })
    const { error } = await less.ask('svc_getTransactionsByAddress', [busy])
    expect(error?.data).toMatchObject({ reason: 'TOO_MANY_RESULTS' })
  })

  it('answers pages that the index has while no node answers, and refuses what lies below', async () => {
    const store = await openStore()
    const proxy = await startProxy()
    const [busy = ''] = await busiest()
    const whole = await full.history(busy)
    await (await startDeepService({ nodeUrl: proxy.url, store: store.url, chain: deepChain })).close()
    const deep = await startDeep({ nodeUrl: proxy.url, store: store.url })
    proxy.setDown(true)
    const seam = whole.filter(record => !isBelow(deep)(record)).length
    const before = whole[0]?.hash
    expect(await deep.history(busy, { before, limit: 2 })).toEqual(whole.slice(1, 3))
    const beyond = await deep.ask('svc_getTransactionsByAddress', [busy, { before, limit: seam + 3 }])
    expect(beyond.error?.data).toMatchObject({ reason: 'UPSTREAM_UNAVAILABLE' })
  })

  it('is not read while it may still be reorganised', async () => {
    const deep = await startDeep({
      chain: { ...deepChain, finality: 60, startBlock: full.indexedFrom() + 30 }
    })
    const [busy = ''] = await busiest()
    const { error } = await deep.ask('svc_getTransactionsByAddress', [busy])
    expect(error?.data.extraMessage).toMatch(
      /^Block 29 of chain 31337, the last one before the index, is not final yet/
    )
    expect(await deep.history(busy, { limit: 1 })).toEqual(await full.history(busy, { limit: 1 }))
  })
})

function countSearches({ calls }: FaultProxy): number {
  const searches = ['eth_getLogs', 'trace_filter', 'ots_searchTransactionsBefore']
  // What nodes offer is asked of an account without any history.
  const isAboutNobody = (params: unknown) => /0x0{39}1"/.test(JSON.stringify(params))
  return calls.filter(({ method, params }) => searches.includes(method) && !isAboutNobody(params)).length
}

/** Addresses with the longest histories on both sides of the seam, first. */
async function busiest(): Promise<readonly string[]> {
  // The zero address is party to all that is minted, and to no call.
  const people = world.addresses.filter(address => !/^0x0{40}$/.test(address))
  const counted = await Promise.all(
    people.map(async address => ({ address, count: (await full.history(address)).length }))
  )
  return counted.sort((a, b) => b.count - a.count).map(({ address }) => address)
}
