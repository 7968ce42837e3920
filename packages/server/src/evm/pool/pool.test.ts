import { describe, expect, it, vi } from 'vitest'
import type { EvmNode, NodeCall } from '../../nodes/evm/nodeCall.ts'
import { isMethodMissing } from '../../nodes/upstreams/errorWords.ts'
import { createCapabilities } from '../../nodes/upstreams/limits.ts'
import { UpstreamError } from '../../nodes/upstreams/upstreamError.ts'
import { systemClock } from '../../platform/clock.ts'
import { NodeRpcError } from '../../platform/errors.ts'
import { silentLogger } from '../../platform/logger.ts'
import { createPoolReader, type PoolReaderOptions } from './pool.ts'

const hash = (digit: string) => `0x${digit.repeat(64)}`
const alice = `0x${'aB'.repeat(20)}`
const bob = `0x${'b'.repeat(40)}`
const raw = (digit: string, from: string, nonce: number, change: object = {}) => ({
  hash: hash(digit),
  blockHash: null,
  from,
  to: bob,
  value: '0x1',
  input: '0x',
  gas: '0x5208',
  gasPrice: '0x3',
  nonce: `0x${nonce.toString(16)}`,
  type: '0x0',
  ...change
})

/** A node that knows the given methods only; what it does not know it refuses with `missing`. */
function nodeWith(
  methods: Record<string, (...params: unknown[]) => unknown>,
  { missing = -32601, ...options }: { missing?: number } & Partial<PoolReaderOptions> = {}
) {
  const asked: string[] = []
  const { attempt } = createCapabilities('upstream 1')
  const request = async ({ method, params }: NodeCall) => {
    asked.push(method)
    const answer = methods[method]
    if (answer === undefined) throw new NodeRpcError(`${method}: nope`, missing, undefined)
    return answer(...params)
  }
  const node: EvmNode = {
    name: 'upstream 1',
    position: 1,
    request,
    batch: calls => Promise.all(calls.map(async call => ({ ok: true, value: await request(call) }))),
    post: async () => undefined,
    attempt,
    putAside: () => undefined,
    within: (_, ask) => ask(node),
    memory: create => create(systemClock)
  }
  return { asked, read: createPoolReader({ rpc: { onOneNode: (_, work) => work(node) }, ...options }) }
}

/** The newest block, as `eth_getBlockByNumber` answers it. */
const latest = { number: '0x20', hash: hash('2') }

const tooLarge = () => {
  throw new UpstreamError('upstream 1 answered more than 128 MiB', 'tooLarge')
}

describe('the pool reader', () => {
  it('tells pending from queued by txpool_content, whatever the case of its keys', async () => {
    const { read, asked } = nodeWith({
      txpool_content: () => ({
        pending: {
          [alice]: { '1': raw('1', alice, 1), '2': raw('2', alice, 2, { type: '0x2', maxFeePerGas: '0x9' }) }
        },
        queued: { [bob]: { '9': raw('3', bob, 9) } }
      }),
      eth_getBlockByNumber: () => latest
    })
    const before = Math.floor(Date.now() / 1000)
    const view = await read()
    expect(view).toMatchObject({ headAfter: { number: 32, hash: latest.hash }, complete: true })
    expect(view?.seenAtSeconds).toBeGreaterThanOrEqual(before)
    expect(asked).toEqual(['txpool_content', 'eth_getBlockByNumber'])
    const byHash = new Map(view?.present.map(entry => [entry.hash as string, entry]))
    expect(byHash.get(hash('1'))).toEqual({
      hash: hash('1'),
      from: alice.toLowerCase(),
      to: bob,
      value: 1n,
      data: '0x',
      gasLimit: 21000n,
      nonce: 1n,
      type: 0,
      gasPrice: 3n,
      status: 1
    })
    expect(byHash.get(hash('2'))).not.toHaveProperty('gasPrice')
    expect(byHash.get(hash('3'))).toMatchObject({ status: 0, nonce: 9n })
  })

  it('leaves out malformed entries and those already in a block', async () => {
    const { read } = nodeWith({
      txpool_content: () => ({
        pending: {
          [alice]: {
            '1': raw('1', 'nobody', 1),
            '2': raw('2', alice, 2, { blockHash: hash('9') }),
            '3': null
          }
        }
      }),
      eth_getBlockByNumber: () => latest
    })
    expect((await read())?.present).toEqual([])
  })

  it('misses a queued entry only the second time, because it may have moved up between the two lists', async () => {
    const looks = [
      { queued: { [bob]: { '9': raw('3', bob, 9), '10': raw('4', bob, 10) } } },
      { queued: { [bob]: { '10': raw('5', bob, 10) } } },
      {}
    ]
    const { read } = nodeWith({ txpool_content: () => looks.shift(), eth_getBlockByNumber: () => latest })
    const seen = async () => (await read())?.present.map(entry => `${entry.hash[2]} ${entry.status}`).sort()
    expect(await seen()).toEqual(['3 0', '4 0'])
    // The nonce of the other one has been taken: that one is replaced.
    expect(await seen()).toEqual(['3 0', '5 0'])
    expect(await seen()).toEqual(['5 0'])
  })

  it('takes a block hash of zeros for none', async () => {
    const { read } = nodeWith({
      txpool_content: () => ({ pending: { [alice]: { '1': raw('1', alice, 1, { blockHash: hash('0') }) } } }),
      eth_getBlockByNumber: () => latest
    })
    expect((await read())?.present).toMatchObject([{ hash: hash('1'), status: 1 }])
  })

  it("tells queued by the gap after the account's nonce where the node mixes them", async () => {
    const { read } = nodeWith({
      eth_pendingTransactions: () => [
        raw('5', alice, 8),
        raw('1', alice, 5),
        raw('2', alice, 6),
        raw('3', alice, 6),
        raw('4', alice, 4),
        raw('6', bob, 1)
      ],
      eth_getTransactionCount: address => (address === bob ? '0x0' : '0x5'),
      web3_clientVersion: () => 'HardhatNetwork/2.29.1',
      eth_getBlockByNumber: () => latest
    })
    const view = await read()
    const statuses = Object.fromEntries(view?.present.map(entry => [entry.hash[2], entry.status]) ?? [])
    expect(statuses).toEqual({ '1': 1, '2': 1, '3': 1, '5': 0, '6': 0 })
    expect(view?.complete).toBe(true)
  })

  it("does not call a pool complete that holds only what the node's own accounts sent", async () => {
    const { read } = nodeWith({
      eth_pendingTransactions: () => [],
      web3_clientVersion: () => 'Geth/v1.16.0-stable/linux-amd64/go1.24',
      eth_getBlockByNumber: () => latest
    })
    expect(await read()).toMatchObject({ present: [], complete: false })
  })

  it.each([-32601, -32004, -32700])(
    'sees nothing on a node that refuses every source with %i, and stops asking',
    async code => {
      const { read, asked } = nodeWith({}, { missing: code })
      expect(await read()).toBeUndefined()
      expect(await read()).toBeUndefined()
      expect(asked).toEqual(['txpool_content', 'eth_pendingTransactions', 'eth_getBlockByNumber'])
    }
  )

  it('takes what may enter the next block where the node shows nothing else, and calls it incomplete', async () => {
    const { read } = nodeWith({
      eth_getBlockByNumber: tag => ({
        ...latest,
        ...(tag === 'pending' && { number: '0x21', hash: null }),
        transactions: [raw('1', alice, 1, { blockHash: hash('8'), blockNumber: '0x21' }), null]
      }),
      eth_blockNumber: () => '0x20'
    })
    const view = await read()
    expect(view).toMatchObject({ complete: false, headAfter: { number: 32, hash: latest.hash }, leftOut: 0 })
    expect(view?.present).toMatchObject([{ hash: hash('1'), status: 1, nonce: 1n }])
  })

  it('does not take the newest block for the next one, nor for an empty pool', async () => {
    let head = 32
    const { read } = nodeWith({
      // The newest block instead; another one comes between every two calls.
      eth_getBlockByNumber: () => ({ number: `0x${(head++).toString(16)}`, transactions: [] }),
      eth_blockNumber: () => `0x${head.toString(16)}`
    })
    expect(await read()).toBeUndefined()
  })

  it('asks again when a block overtakes the one that was to come', async () => {
    let head = 32
    const { read } = nodeWith({
      eth_getBlockByNumber: tag =>
        tag === 'latest' ? latest : { number: '0x21', transactions: [raw('1', alice, head)] },
      eth_blockNumber: () => `0x${(head === 32 ? ++head : 32).toString(16)}`
    })
    expect((await read())?.present).toMatchObject([{ nonce: 33n }])
  })

  it('goes to the next source when an answer is too large, and leaves the first alone for ten minutes', async () => {
    let now = 0
    const { read, asked } = nodeWith(
      {
        txpool_content: tooLarge,
        eth_pendingTransactions: () => [raw('1', alice, 1)],
        eth_getTransactionCount: () => '0x1',
        web3_clientVersion: () => 'Geth/v1.16.0',
        eth_getBlockByNumber: () => latest
      },
      { clock: { now: () => now } }
    )
    expect(await read()).toMatchObject({ present: [{ status: 1 }], complete: false })
    now = 599_999
    expect(await read()).toMatchObject({ present: [{ status: 1 }] })
    expect(asked.filter(method => method === 'txpool_content')).toHaveLength(1)
    now = 600_000
    await read()
    expect(asked.filter(method => method === 'txpool_content')).toHaveLength(2)
  })

  it('sees nothing when every answer is too large', async () => {
    const { read } = nodeWith({
      txpool_content: tooLarge,
      eth_pendingTransactions: tooLarge,
      eth_getBlockByNumber: tooLarge
    })
    expect(await read()).toBeUndefined()
  })

  it('does not carry what one source has shown into a look at another', async () => {
    const queued = { queued: { [bob]: { '9': raw('3', bob, 9) } } }
    const looks: unknown[] = [queued, undefined, {}]
    const { read } = nodeWith({
      txpool_content: () => looks.shift() ?? tooLarge(),
      eth_pendingTransactions: () => [],
      web3_clientVersion: () => 'anvil/v1.7.1',
      eth_getBlockByNumber: () => latest
    })
    expect((await read())?.present).toHaveLength(1)
    expect((await read())?.present).toEqual([])
  })

  it('keeps the same entries of a pool beyond the bound, one sender cannot push out the others', async () => {
    const many = (from: string, first: number, digits: string) =>
      Object.fromEntries([...digits].map((digit, i) => [`${first + i}`, raw(digit, from, first + i)]))
    const warnings: object[] = []
    const content = {
      pending: { [alice]: many(alice, 5, '9876'), [bob]: many(bob, 1, 'f') },
      queued: { [bob]: many(bob, 7, '0') }
    }
    const { read } = nodeWith(
      { txpool_content: () => content, eth_getBlockByNumber: () => latest },
      {
        maxEntries: 3,
        logger: { ...silentLogger, warn: (message, fields) => void warnings.push({ message, ...fields }) }
      }
    )
    for (let look = 0; look < 2; look++) {
      const view = await read()
      expect(view).toMatchObject({ leftOut: 3, complete: true })
      expect(view?.present.map(entry => entry.hash[2])).toEqual(['9', 'f', '8'])
    }
    expect(warnings).toEqual([{ message: 'entries of a pool beyond the bound are left out', count: 3 }])
  })

  it('passes other errors on', async () => {
    const { read } = nodeWith({}, { missing: -32000 })
    await expect(read()).rejects.toThrow(NodeRpcError)
  })
})

describe('isMethodMissing', () => {
  it.each([
    'The method txpool_content does not exist/is not available, method not found',
    'x: Unsupported method: txpool_content',
    'x: method is not whitelisted',
    'x: rpc method is unsupported'
  ])('knows the words "%s"', message => {
    expect(isMethodMissing(new NodeRpcError(message, -32000, undefined))).toBe(true)
  })

  it('asks again soon for a method that has worked before, and late for one that never did', async () => {
    vi.useFakeTimers()
    try {
      const capabilities = createCapabilities('upstream 1')
      const asked: string[] = []
      const attempt = (method: string, isThere: boolean) =>
        capabilities.attempt(method, async () => {
          asked.push(method)
          if (!isThere) throw new NodeRpcError('no such method', -32601, undefined)
          return 'answer'
        })
      await attempt('known', true)
      await attempt('known', false)
      await attempt('never', false)
      asked.length = 0
      expect([await attempt('known', true), await attempt('never', true)]).toEqual([undefined, undefined])
      expect(asked).toEqual([])
      vi.advanceTimersByTime(6_000)
      expect([await attempt('known', true), await attempt('never', true)]).toEqual(['answer', undefined])
      vi.advanceTimersByTime(600_000)
      expect(await attempt('never', true)).toBe('answer')
    } finally {
      vi.useRealTimers()
    }
  })

  it('does not take an execution error for a missing method', () => {
    expect(isMethodMissing(new NodeRpcError('eth_call: execution reverted', 3, undefined))).toBe(false)
    expect(isMethodMissing(new NodeRpcError('eth_x: header not found', -32000, undefined))).toBe(false)
    expect(isMethodMissing(new Error('method not found'))).toBe(false)
  })
})
