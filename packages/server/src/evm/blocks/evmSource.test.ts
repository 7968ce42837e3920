import { describe, expect, it } from 'vitest'
import type { EvmNode, NodeCall, NodeOutcome } from '../../nodes/evm/nodeCall.ts'
import type { EvmUpstreams } from '../../nodes/evm/rpc.ts'
import { isMethodMissing } from '../../nodes/upstreams/errorWords.ts'
import { AbsentAnswer } from '../../nodes/upstreams/work.ts'
import { systemClock } from '../../platform/clock.ts'
import { NodeContradictionError, NodeRpcError } from '../../platform/errors.ts'
import { createEvmSource } from './evmSource.ts'

const hash = (digit: string) => `0x${digit.repeat(64)}`
const headBlock = (number: number) => ({ number: `0x${number.toString(16)}`, hash: hash('a') })

/** A node that answers each call with `answer`; what that throws is the node's error. */
function sourceOver(answer: (call: NodeCall) => unknown, finality: 'auto' | number = 'auto') {
  const asked: NodeCall[] = []
  const lacking = new Set<string>()
  const ask = async (call: NodeCall) => {
    asked.push(call)
    return answer(call)
  }
  const askAll = (calls: readonly NodeCall[]) =>
    Promise.all(
      calls.map(call =>
        ask(call).then(
          (value): NodeOutcome => ({ ok: true, value }),
          (error): NodeOutcome => ({ ok: false, error })
        )
      )
    )
  const node: EvmNode = {
    name: 'upstream 1',
    position: 1,
    request: ask,
    batch: askAll,
    post: async () => undefined,
    async attempt(method, run) {
      if (lacking.has(method)) return undefined
      try {
        return await run()
      } catch (error) {
        if (!isMethodMissing(error)) throw error
        lacking.add(method)
        return undefined
      }
    },
    putAside: () => undefined,
    within: (_, ask) => ask(node),
    memory: create => create(systemClock)
  }
  const read = <T>(value: T, options: { read?: (value: unknown, node: EvmNode) => unknown } = {}) =>
    (options.read === undefined ? value : options.read(value, node)) as T
  const rpc: EvmUpstreams = {
    request: async (call, options) => read(await ask(call), options),
    batch: async (calls, options) => read(await askAll(calls), options),
    onOneNode: (_, work) =>
      work(node).catch(error => {
        throw error instanceof AbsentAnswer ? error.read() : error
      }),
    onEachNode: async (_, work) => [await work(node)],
    room: () => 16,
    identity: async () => ({ chainId: 2n ** 53n + 1n, genesisHash: hash('a') as `0x${string}` }),
    pollTimeoutMs: 10_000,
    expectGenesis: () => undefined,
    figures: () => [],
    close: () => undefined
  }
  return { source: createEvmSource({ rpc, finality }), asked }
}

const missing = () => {
  throw new NodeRpcError('nope', -32601, undefined)
}

describe('head', () => {
  const tags = (latest: unknown, finalized: () => unknown) => (call: NodeCall) =>
    call.params[0] === 'latest' ? latest : finalized()

  it.each<[string, number, () => unknown, number | undefined]>([
    ['what the node calls final', 1_000, () => headBlock(900), 900],
    ['64 blocks where the node answers null', 1_000, () => null, 936],
    ['64 blocks where the node refuses the tag', 1_000, missing, 936],
    ['nothing in a chain of less than 64 blocks', 63, () => null, undefined],
    ['never more than the head', 1_000, () => headBlock(1_001), 1_000]
  ])('takes as final %s', async (_, latest, finalized, expected) => {
    const { head, finalized: found } = await sourceOver(tags(headBlock(latest), finalized)).source.head()
    expect(head).toEqual({ number: latest, hash: hash('a') })
    expect(found).toBe(expected)
  })

  it('asks for no tag when the depth is configured', async () => {
    const { source, asked } = sourceOver(() => headBlock(1_000), 10)
    expect(await source.head()).toMatchObject({ finalized: 990 })
    expect(asked.map(({ params }) => params[0])).toEqual(['latest'])
  })

  it('refuses a node without a newest block', async () => {
    await expect(sourceOver(tags(null, () => null)).source.head()).rejects.toThrow(NodeContradictionError)
  })
})

describe('block', () => {
  const transaction = { hash: hash('1'), from: `0x${'b'.repeat(40)}`, to: `0x${'c'.repeat(40)}` }
  const block = (transactions: object[], change: object = {}) => ({
    ...{ number: '0x5', hash: hash('5'), parentHash: hash('4'), timestamp: '0x1', transactions },
    ...change
  })
  const receipt = { transactionHash: hash('1'), blockHash: hash('5') }
  const methods = (asked: NodeCall[]) => asked.map(({ method }) => method)

  it('asks for receipts by the hash of the block', async () => {
    const { source, asked } = sourceOver(({ method }) =>
      method === 'eth_getBlockByNumber' ? block([transaction]) : [receipt]
    )
    expect((await source.block(5)).transactionCount).toBe(1)
    expect(asked[1]).toEqual({ method: 'eth_getBlockReceipts', params: [hash('5')] })
  })

  it.each([-32601, -32602])(
    'asks for single receipts when eth_getBlockReceipts is refused with %i',
    async code => {
      const { source, asked } = sourceOver(({ method }) => {
        if (method === 'eth_getBlockReceipts') throw new NodeRpcError('no', code, undefined)
        return method === 'eth_getBlockByNumber' ? block([transaction]) : receipt
      })
      await source.block(5)
      await source.block(5)
      expect(methods(asked)).toEqual([
        'eth_getBlockByNumber',
        'eth_getBlockReceipts',
        'eth_getTransactionReceipt',
        'eth_getBlockByNumber',
        'eth_getTransactionReceipt'
      ])
    }
  )

  it('asks for no receipts of a block that is provably empty, and for those of one that only seems so', async () => {
    const transactionsRoot = '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421'
    const empty = sourceOver(() => block([], { transactionsRoot }))
    expect((await empty.source.block(5)).transactionCount).toBe(0)
    expect(empty.asked).toHaveLength(1)
    const odd = sourceOver(({ method }) => (method === 'eth_getBlockByNumber' ? block([]) : [receipt]))
    await expect(odd.source.block(5)).rejects.toThrow('1 receipt for 0 transactions')
    const cut = sourceOver(({ method }) =>
      method === 'eth_getBlockByNumber' ? block([], { transactionsRoot: hash('7') }) : []
    )
    await expect(cut.source.block(5)).rejects.toThrow('(waiver emptyRoot)')
  })

  it('is refused with the checks of its header and those of its receipts, or the former where it has none', async () => {
    const transactionsRoot = '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421'
    const odd = block([transaction], { transactionsRoot })
    const both = sourceOver(({ method }) =>
      method === 'eth_getBlockByNumber' ? odd : [{ ...receipt, blockHash: null }]
    )
    await expect(both.source.block(5)).rejects.toMatchObject({
      broken: [{ check: 'emptyRoot' }, { check: 'receiptBlockHash' }]
    })
    const alone = sourceOver(({ method }) => (method === 'eth_getBlockByNumber' ? odd : missing()))
    await expect(alone.source.block(5)).rejects.toMatchObject({ broken: [{ check: 'emptyRoot' }] })
  })

  it('passes the error of a single receipt on', async () => {
    const { source } = sourceOver(({ method }) => {
      if (method === 'eth_getBlockByNumber') return block([transaction])
      throw new NodeRpcError('broken', method === 'eth_getBlockReceipts' ? -32601 : -32000, undefined)
    })
    await expect(source.block(5)).rejects.toThrow('broken')
  })

  it('asks for a final block and its receipts together, by height', async () => {
    const { source, asked } = sourceOver(({ method, params }) => {
      if (params[0] === 'latest') return headBlock(1_000)
      if (params[0] === 'finalized') return headBlock(900)
      return method === 'eth_getBlockByNumber' ? block([transaction]) : [receipt]
    })
    await source.head()
    asked.length = 0
    expect((await source.block(5)).transactionCount).toBe(1)
    const found = asked.map(({ method, params }) => `${method} ${params[0]}`)
    expect(found).toEqual(['eth_getBlockByNumber 0x5', 'eth_getBlockReceipts 0x5'])
  })

  it('asks for no receipts together with a final block after an empty one', async () => {
    const transactionsRoot = '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421'
    let isEmpty = true
    const { source, asked } = sourceOver(({ method, params }) => {
      if (params[0] === 'latest' || params[0] === 'finalized') return headBlock(1_000)
      if (method !== 'eth_getBlockByNumber') return [receipt]
      return isEmpty ? block([], { transactionsRoot }) : block([transaction])
    })
    await source.head()
    asked.length = 0
    await source.block(5)
    await source.block(5)
    isEmpty = false
    await source.block(5)
    await source.block(5)
    const [height, ofHash] = ['eth_getBlockReceipts 0x5', `eth_getBlockReceipts ${hash('5')}`]
    const found = asked.map(({ method, params }) => `${method} ${params[0]}`)
    expect(found.filter(call => call.includes('Receipts'))).toEqual([height, ofHash, height])
  })

  it('refuses receipts of a height that are not of the block that came with them', async () => {
    const { source } = sourceOver(({ method, params }) => {
      if (params[0] === 'latest' || params[0] === 'finalized') return headBlock(1_000)
      return method === 'eth_getBlockByNumber' ? block([transaction]) : [{ ...receipt, blockHash: hash('6') }]
    })
    await source.head()
    await expect(source.block(5)).rejects.toThrow(NodeContradictionError)
  })

  it.each([
    ['null', () => null],
    [
      'an error about their size',
      () => {
        throw new NodeRpcError('response too large', -32_000, undefined, { nodeMessage: 'answerTooLarge' })
      }
    ]
  ])('asks for receipts by hash where those of the height are %s', async (_, answer) => {
    const { source, asked } = sourceOver(({ method, params }) => {
      if (params[0] === 'latest' || params[0] === 'finalized') return headBlock(1_000)
      if (method === 'eth_getBlockByNumber') return block([transaction])
      return params[0] === '0x5' ? answer() : [receipt]
    })
    await source.head()
    expect((await source.block(5)).transactionCount).toBe(1)
    expect(asked.at(-1)).toEqual({ method: 'eth_getBlockReceipts', params: [hash('5')] })
  })

  it('is an error, not an empty block, where the node has none', async () => {
    await expect(sourceOver(() => null).source.block(5)).rejects.toThrow('block 5: the node does not have it')
  })
})
