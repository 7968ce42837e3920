import { type Address, type BlockRef, type DeepHistoryCache, StoreUnavailableError } from '@chain-data/index'
import { encodeBlock } from '@chain-data/index/record'
import { buildChain, openMemoryDeepHistoryCache, people } from '@chain-data/index/test'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { transferTopic } from '../../../evm/blocks/readLogs.ts'
import type { TraceMode } from '../../../model/traceMode.ts'
import type { EvmNode, NodeCall, NodeCallOptions } from '../../../nodes/evm/nodeCall.ts'
import type { EvmUpstreams } from '../../../nodes/evm/rpc.ts'
import { NodeContradictionError, NodeRpcError } from '../../../platform/errors.ts'
import { createDeepHistory, type DeepHistory } from './createDeepHistory.ts'

const account = people[3] as Address
const other = people[5] as Address
/** Far enough up that no node is asked about all of it at once. */
const height = 1_000_000
const anchor: BlockRef = { number: height, hash: `0x${'a1'.repeat(32)}` }
const heights = [999_990, 700_000, 300_000, 5]

type Answer = (call: NodeCall, options: NodeCallOptions) => unknown

const topicOf = (address: Address) => `0x${address.slice(2).padStart(64, '0')}`
const blockAt = (number: number) => {
  const [block] = buildChain([[{ name: `paid in ${number}`, parties: [other, account] }]], {
    firstNumber: number
  })
  if (block === undefined) throw new Error('a chain of one block has none')
  return block
}
/** One token for each of the blocks: what is not found is not held. */
const logAt = (number: number) => ({
  address: `0x${number.toString(16).padStart(40, 'c')}`,
  topics: [transferTopic, topicOf(other), topicOf(account)],
  data: `0x${'1'.padStart(64, '0')}`,
  blockNumber: `0x${number.toString(16)}`,
  transactionHash: blockAt(number).transactions[0]?.transaction.hash
})

/** A node that has an index of addresses in which nothing is, and the logs of the blocks. */
const answerAll: Answer = ({ method, params }) => {
  if (method === 'ots_searchTransactionsBefore') return { txs: [], receipts: [], lastPage: true }
  if (method === 'trace_filter') return []
  if (method === 'eth_blockNumber') return `0x${height.toString(16)}`
  if (method !== 'eth_getLogs')
    throw new NodeRpcError(`${method}: there is no such method`, -32601, undefined)
  const [{ fromBlock, toBlock, topics }] = params as [
    { fromBlock: string; toBlock: string; topics: unknown[] }
  ]
  // Of the questions only one is about whom the account is paid by.
  if (topics.length !== 3) return []
  return heights.filter(number => number >= Number(fromBlock) && number <= Number(toBlock)).map(logAt)
}

const node = new Proxy({} as EvmNode, {
  get: () => {
    throw new Error('nothing here asks which node it was')
  }
})

let cache: DeepHistoryCache
let answer: Answer
let readBlock: (number: number) => Promise<void>
beforeEach(() => {
  cache = openMemoryDeepHistoryCache({ bound: 1_000_000 })
  answer = answerAll
  readBlock = async () => undefined
})
afterEach(() => cache.close())

function open({ kept = cache, traces = 'off' }: { kept?: DeepHistoryCache; traces?: TraceMode } = {}) {
  return createDeepHistory({
    cache: kept,
    traces,
    rpc: {
      ...({} as EvmUpstreams),
      async request(call, options = {}) {
        const value = await answer(call, options)
        return options.read === undefined ? value : options.read(value, node)
      },
      async batch() {
        throw new Error('it has an index of addresses: nothing asks for state')
      }
    },
    openSource: () => ({
      async block(number) {
        await readBlock(number)
        return encodeBlock(blockAt(number))
      },
      blockRef: async () => anchor
    })
  })
}

const request = (signal = new AbortController().signal, inMs = 25_000) => ({
  ...{ address: account, anchor, signal, deadlineMs: Date.now() + inMs }
})
const readAll = (deep: DeepHistory, signal?: AbortSignal, inMs?: number) =>
  deep.readRecords(request(signal, inMs), async () => false)

async function recordsOf(deep: DeepHistory): Promise<number> {
  let count = 0
  for await (const { ids } of deep.cache.records(account, anchor, { belowId: Number.MAX_SAFE_INTEGER }))
    count += ids.length
  return count
}

/** A cache that refuses so many of the stretches first. */
function refusing(times: number): DeepHistoryCache {
  let left = times
  return {
    ...{ known: cache.known.bind(cache), records: cache.records.bind(cache), close: async () => undefined },
    ...{ candidates: cache.candidates.bind(cache), lookUpHash: cache.lookUpHash.bind(cache) },
    forget: cache.forget.bind(cache),
    async save(...stretch) {
      if (left-- > 0) throw new StoreUnavailableError('written by another process')
      await cache.save(...stretch)
    }
  }
}

describe('what lies below an index', () => {
  it.each(['records', 'candidates'] as const)(
    'loses no %s that the cache did not take at first',
    async lane => {
      const deep = open({ kept: refusing(1) })
      const read = () => (lane === 'records' ? readAll(deep) : deep.readCandidates(request()))
      await expect(read()).rejects.toThrow(StoreUnavailableError)
      await expect(read()).resolves.toEqual({ isDone: true, reachedBlock: 0 })
      expect(await deep.cache.candidates(account, anchor)).toHaveLength(heights.length)
      if (lane === 'records') expect(await recordsOf(deep)).toBe(heights.length)
    }
  )

  it('reads little more blocks than a page shows, however many were found at once', async () => {
    const many = Array.from({ length: 200 }, (_, place) => height - 1 - place)
    answer = (call, options) => {
      const { topics = [] } = call.params[0] as { topics?: unknown[] }
      return call.method === 'eth_getLogs' && topics.length === 3 ? many.map(logAt) : answerAll(call, options)
    }
    let reads = 0
    readBlock = async () => void reads++
    const deep = open()
    const isEnough = async () => (await recordsOf(deep)) >= 20
    const { isDone, reachedBlock } = await deep.readRecords(request(), isEnough)
    expect({ isDone, reads, reachedBlock }).toEqual({ isDone: true, reads: 32, reachedBlock: height - 32 })
    answer = answerAll
    const isWhole = async () => (await recordsOf(deep)) >= 200
    expect(await deep.readRecords(request(), isWhole)).toMatchObject({ isDone: true })
    expect([reads, await recordsOf(deep)]).toEqual([200, 200])
  })

  it('loses nothing to a call that was given up and is still at work', async () => {
    const deep = open()
    const leaving = new AbortController()
    let release: (value: undefined) => void = () => undefined
    const held = new Promise<undefined>(resolve => {
      release = resolve
    })
    readBlock = () => {
      readBlock = async () => undefined
      leaving.abort(new Error('gone'))
      return held
    }
    await expect(readAll(deep, leaving.signal)).rejects.toThrow('gone')
    expect(await readAll(deep)).toEqual({ isDone: true, reachedBlock: 0 })
    release(undefined)
    expect(await recordsOf(deep)).toBe(heights.length)
  })

  it('asks a node for less that takes longer than callers wait', async () => {
    const deep = open()
    const spans: number[] = []
    answer = async (call, options) => {
      const [{ fromBlock, toBlock }] = call.params as [{ fromBlock: string; toBlock: string }]
      if (call.method === 'eth_getLogs') {
        spans.push(Number(toBlock) - Number(fromBlock) + 1)
        if (spans.length <= 3) {
          await new Promise((_, reject) =>
            options.signal?.addEventListener('abort', () => reject(options.signal?.reason))
          )
        }
      }
      return answerAll(call, options)
    }
    const impatient = AbortSignal.timeout(1_100)
    await expect(deep.readCandidates(request(impatient))).rejects.toThrow()
    await deep.readCandidates(request())
    expect(spans[3]).toBeLessThan(spans[0] ?? 0)
    expect(await deep.cache.candidates(account, anchor)).toHaveLength(heights.length)
  })

  it('names what is kept when a node contradicts itself, and goes on from there', async () => {
    const deep = open()
    readBlock = async number => {
      if (number === 300_000) throw new NodeContradictionError('block 300000: no such receipt')
    }
    const failure = await readAll(deep).catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(NodeContradictionError)
    const { recordsFrom } = await deep.cache.known(account, anchor)
    expect(failure).toMatchObject({ context: { keptFrom: recordsFrom } })
    expect(recordsFrom).toBeLessThan(height)
    const read: number[] = []
    readBlock = async number => void read.push(number)
    expect(await readAll(deep)).toEqual({ isDone: true, reachedBlock: 0 })
    expect(read).toEqual([700_000, 300_000, 5])
  })

  it('finds out anew what a node has that lost its index of addresses', async () => {
    const deep = open()
    expect(await deep.findOut(request().signal)).toBe('ots')
    answer = (call, options) => {
      if (call.method === 'ots_searchTransactionsBefore') {
        throw new NodeRpcError('the method does not exist', -32601, undefined)
      }
      return answerAll(call, options)
    }
    await expect(readAll(deep)).rejects.toThrow(NodeRpcError)
    expect(await readAll(deep)).toEqual({ isDone: true, reachedBlock: 0 })
    expect(await recordsOf(deep)).toBe(heights.length)
  })

  it('reads again with traces what was read without them', async () => {
    const without = open()
    await readAll(without)
    expect(await recordsOf(without)).toBe(heights.length)
    const withTraces = open({ traces: 'on' })
    expect(await withTraces.cache.known(account, anchor)).toMatchObject({ recordsFrom: height })
    await readAll(withTraces)
    expect(await recordsOf(withTraces)).toBe(heights.length)
  })
})
